//! Moves a slot with its keys, as an operator's tool does.

use super::{TestCluster, assemble::order};

/// How many keys go at a time when nobody watches.
const KEYS_MAX: usize = 100;
/// How long the servers may take for a key, in milliseconds.
const TIMEOUT_MS: &str = "5000";

/// How far a slot that moves has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moving {
    /// Both servers know; every key is still where it was, and a new one goes to where the slot goes.
    Opened,
    /// Some keys have gone and others have not.
    Halfway,
    /// Every key has gone; the slot is still the former owner's.
    Emptied,
    /// The new owner knows that it is, and the others do not yet.
    Given,
}

impl TestCluster {
    /// Moves a slot with all its keys to another master; returns when all servers know.
    pub fn migrate_slot(&self, slot: u16, to: usize) {
        self.migrate_slot_watched(slot, to, KEYS_MAX, |_| {});
    }

    /// As [`TestCluster::migrate_slot`], with a look between the steps, each of which moves at most so many keys.
    pub fn migrate_slot_watched(
        &self,
        slot: u16,
        to: usize,
        keys_max: usize,
        mut watch: impl FnMut(Moving),
    ) {
        let from = self.owner_of_slot(slot);
        let name = slot.to_string();
        order(self, to, &["SETSLOT", &name, "IMPORTING", &self.ids[from]]);
        order(self, from, &["SETSLOT", &name, "MIGRATING", &self.ids[to]]);
        watch(Moving::Opened);
        while self.move_keys(&name, from, to, keys_max) > 0 {
            watch(Moving::Halfway);
        }
        watch(Moving::Emptied);
        let give = |server| order(self, server, &["SETSLOT", &name, "NODE", &self.ids[to]]);
        give(to);
        watch(Moving::Given);
        give(from);
        let others = (0..self.count()).filter(|&it| it != to && it != from && self.is_master(it));
        others.for_each(give);
        self.wait_known(slot, to);
    }

    /// Moves some keys of a slot; says how many there were to move.
    fn move_keys(&self, slot: &str, from: usize, to: usize, keys_max: usize) -> usize {
        let keys = self.cli(
            from,
            &["CLUSTER", "GETKEYSINSLOT", slot, &keys_max.to_string()],
        );
        let keys: Vec<_> = keys.lines().collect();
        if !keys.is_empty() {
            let at = self.address(to);
            let (ip, port) = (at.ip().to_string(), at.port().to_string());
            let command = ["MIGRATE", &ip, &port, "", "0", TIMEOUT_MS, "KEYS"];
            let answer = self.cli(from, &[&command[..], &keys].concat());
            // A key that was deleted or expired since is no key.
            assert!(matches!(&*answer, "OK" | "NOKEY"), "{keys:?}: {answer}");
        }
        keys.len()
    }
}
