//! Ordinals with a deadline each, like a sorted set scored by time.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Ordinal, Timestamp};

/// Ordinals in the order in which their time runs out.
#[derive(Debug, Clone, Default)]
pub(crate) struct Deadlines {
    by_ordinal: BTreeMap<Ordinal, Timestamp>,
    by_time: BTreeSet<(Timestamp, Ordinal)>,
}

impl Deadlines {
    pub(crate) fn len(&self) -> usize {
        self.by_ordinal.len()
    }

    pub(crate) fn get(&self, ordinal: Ordinal) -> Option<Timestamp> {
        self.by_ordinal.get(&ordinal).copied()
    }

    /// Sets the deadline of an ordinal, whether or not it had one.
    pub(crate) fn set(&mut self, ordinal: Ordinal, at: Timestamp) {
        if let Some(old) = self.by_ordinal.insert(ordinal, at) {
            self.by_time.remove(&(old, ordinal));
        }
        self.by_time.insert((at, ordinal));
    }

    pub(crate) fn remove(&mut self, ordinal: Ordinal) -> Option<Timestamp> {
        let at = self.by_ordinal.remove(&ordinal)?;
        self.by_time.remove(&(at, ordinal));
        Some(at)
    }

    /// The earliest deadline of all.
    pub(crate) fn earliest(&self) -> Option<(Timestamp, Ordinal)> {
        self.by_time.first().copied()
    }

    /// The ordinal whose time ran out first, if any ran out by `now`.
    pub(crate) fn due(&self, now: Timestamp) -> Option<Ordinal> {
        self.earliest()
            .filter(|(at, _)| *at <= now)
            .map(|(_, ordinal)| ordinal)
    }
}
