//! Joins on their way: held, answered late, and tried again.

use ropeline_core::{Holder, Located};

use super::{World, clients::Client};
use crate::fleet::{
    node::{Given, Joining},
    schedule::Millis,
};

/// For how long a client waits.
const PATIENCE: Millis = 4_000;
/// A join that is held is tried again after this.
const HELD: Millis = 100;
/// And one whose answer was found to be outdated after this.
const AGAIN: Millis = 20;

/// A join that has no answer yet.
#[derive(Debug)]
pub(super) struct Pending {
    pub(super) due: Millis,
    visitor: usize,
    node: usize,
    life: u32,
    asked_at: Millis,
    /// How long the node takes to pass an answer on.
    delay: Millis,
    /// What the store gave.
    given: Option<Given>,
}

impl World {
    pub(super) fn ask_to_join(&mut self, visitor: usize, node: usize, delay: Millis) {
        let machine = &self.machines[node];
        if self.clients[visitor].is_some() || !machine.up {
            return;
        }
        let now = self.network.now;
        self.network.checker.asked(visitor, now);
        self.pending.push(Pending {
            due: now.max(machine.stopped_until),
            visitor,
            node,
            life: machine.life,
            asked_at: now,
            delay,
            given: None,
        });
        self.run_pending();
    }

    /// Goes on with all joins that are due.
    pub(super) fn run_pending(&mut self) {
        let now = self.network.now;
        let pending = std::mem::take(&mut self.pending);
        let (due, later): (Vec<_>, Vec<_>) = pending.into_iter().partition(|it| it.due <= now);
        self.pending = later;
        for join in due {
            let again = self.go_on(join);
            self.pending.extend(again);
            self.check_cap();
        }
    }

    fn go_on(&mut self, mut join: Pending) -> Option<Pending> {
        let (machine, now) = (&mut self.machines[join.node], self.network.now);
        let alive = machine.up && machine.life == join.life;
        if !alive || self.clients[join.visitor].is_some() {
            return None;
        }
        if !machine.runs(now) {
            join.due = machine.stopped_until;
            return Some(join);
        }
        if let Some(given) = join.given.take() {
            return self.acknowledge(join, &given);
        }
        let visitor = self.network.checker.visitor(join.visitor).clone();
        match machine.logic.join(&visitor, &mut self.network) {
            Joining::Given(given) if join.delay > 0 => {
                join.due = now + join.delay;
                join.delay = 0;
                join.given = Some(given);
                Some(join)
            }
            Joining::Given(given) => self.acknowledge(join, &given),
            Joining::Held => join.again(now + HELD),
            Joining::Refused => None,
        }
    }

    fn acknowledge(&mut self, join: Pending, given: &Given) -> Option<Pending> {
        let (machine, network) = (&mut self.machines[join.node], &mut self.network);
        let now = network.now;
        if !machine.logic.may_acknowledge(given, network) {
            return join.again(now + AGAIN);
        }
        let holder = Holder {
            visitor: network.checker.visitor(join.visitor).clone(),
            ordinal: given.ordinal,
        };
        machine.logic.acknowledged(&holder, now);
        network.timeline.say(now, || {
            let (node, visitor, ordinal) = (join.node, join.visitor, given.ordinal);
            format!("  node {node} acknowledges {ordinal} to v{visitor}")
        });
        let master = network.servers[network.named.server].room();
        let who = (join.visitor, join.node);
        network.checker.acknowledged(who, given, master, now);
        let view = machine.logic.view();
        let ahead = view.and_then(|view| match view.locate(given.ordinal) {
            Located::InLine { ahead, .. } => Some(ahead),
            _ => None,
        });
        self.clients[join.visitor] = Some(Client {
            holder,
            epoch: given.epoch,
            version: view.map_or(0, |view| view.header.version),
            ahead,
        });
        None
    }
}

impl Pending {
    /// Tries again, unless the client has given up.
    fn again(mut self, due: Millis) -> Option<Self> {
        self.due = due;
        (due <= self.asked_at + PATIENCE).then_some(self)
    }
}
