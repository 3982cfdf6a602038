//! A node as a process: running, stopped or dead, with a disk.

use std::fmt;

use ropeline_core::View;

use super::{TICK, World};
use crate::fleet::{
    Rule,
    node::{Node, Record},
    schedule::{Millis, NodeDisk},
};

/// A record on disk is at most a second old.
const RECORD_EVERY: Millis = 700;

pub(super) struct Machine {
    pub(super) logic: Box<dyn Node>,
    pub(super) up: bool,
    pub(super) stopped_until: Millis,
    /// Distinguishes lives.
    pub(super) life: u32,
    disk: Disk,
    recorded_at: Millis,
    next_tick: Millis,
    ticks: u64,
}

enum Disk {
    Empty,
    Damaged,
    Record(Box<View>),
}

impl Machine {
    pub(super) fn new(number: usize, rule: Rule) -> Self {
        Self {
            logic: rule.node(number),
            up: false,
            stopped_until: 0,
            life: 0,
            disk: Disk::Empty,
            recorded_at: 0,
            next_tick: 0,
            ticks: 0,
        }
    }

    /// When it next looks at the store by itself.
    pub(super) fn next_tick(&self) -> Option<Millis> {
        self.up.then(|| self.next_tick.max(self.stopped_until))
    }

    pub(super) fn runs(&self, now: Millis) -> bool {
        self.up && now >= self.stopped_until
    }
}

impl fmt::Debug for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { up, life, .. } = self;
        write!(f, "Machine(up: {up}, life: {life})")
    }
}

impl World {
    pub(super) fn start(&mut self, node: usize) {
        let (machine, now) = (&mut self.machines[node], self.network.now);
        if machine.up {
            return;
        }
        machine.up = true;
        machine.life += 1;
        machine.stopped_until = now;
        machine.next_tick = now;
        machine.recorded_at = now;
        machine.logic.start(match &machine.disk {
            Disk::Empty => Record::None,
            Disk::Damaged => Record::Damaged,
            Disk::Record(view) => Record::Of(view),
        });
        self.network.checker.started(node, now);
    }

    pub(super) fn crash(&mut self, node: usize, disk: NodeDisk) {
        let (machine, now) = (&mut self.machines[node], self.network.now);
        if machine.up {
            machine.up = false;
            self.network.checker.lives().ended(node, now);
        }
        machine.disk = match disk {
            NodeDisk::Kept => return,
            NodeDisk::Damaged => Disk::Damaged,
            NodeDisk::Lost => Disk::Empty,
        };
        self.network.checker.lives().lost_record(node);
    }

    pub(super) fn tick(&mut self, node: usize) {
        let (machine, network) = (&mut self.machines[node], &mut self.network);
        machine.logic.tick(network);
        machine.ticks += 1;
        let (shortest, longest) = TICK;
        let jitter = mixed(self.seed, node, machine.ticks) % (longest - shortest);
        machine.next_tick = network.now + shortest + jitter;
        if network.now < machine.recorded_at + RECORD_EVERY {
            return;
        }
        if let Some(memory) = machine.logic.memory() {
            machine.disk = Disk::Record(Box::new(memory));
            machine.recorded_at = network.now;
            network.checker.wrote_record(node);
        }
    }
}

impl World {
    /// Lets time pass in which no node looks at the store.
    pub(super) fn pause_ticks(&mut self, lasts: Millis) {
        let end = self.network.now + lasts;
        for machine in &mut self.machines {
            machine.next_tick = end;
        }
        self.run_until(end - 1);
        self.network.now = end;
    }
}

/// A number that looks random, the same for the same arguments (the finish of splitmix64).
fn mixed(seed: u64, node: usize, tick: u64) -> u64 {
    let mut z = seed ^ ((node as u64 + 1) << 56) ^ tick.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
