//! Ordinals with a deadline each, like a sorted set scored by time.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Ordinal, Pass, Timestamp};

/// What ends at a time.
pub(crate) trait Ends: Copy {
    /// When it does.
    fn at(self) -> Timestamp;
}

impl Ends for Timestamp {
    fn at(self) -> Timestamp {
        self
    }
}

impl Ends for Pass {
    fn at(self) -> Timestamp {
        self.expires_at
    }
}

/// Ordinals in the order in which their time runs out, with what each has until then.
#[derive(Debug, Clone)]
pub(crate) struct Deadlines<T> {
    by_ordinal: BTreeMap<Ordinal, T>,
    by_time: BTreeSet<(Timestamp, Ordinal)>,
}

impl<T> Default for Deadlines<T> {
    fn default() -> Self {
        Self {
            by_ordinal: BTreeMap::new(),
            by_time: BTreeSet::new(),
        }
    }
}

impl<T: Ends> Deadlines<T> {
    pub(crate) fn len(&self) -> usize {
        self.by_ordinal.len()
    }

    pub(crate) fn get(&self, ordinal: Ordinal) -> Option<T> {
        self.by_ordinal.get(&ordinal).copied()
    }

    /// Sets what an ordinal has, whether or not it had something.
    pub(crate) fn set(&mut self, ordinal: Ordinal, what: T) {
        if let Some(old) = self.by_ordinal.insert(ordinal, what) {
            self.by_time.remove(&(old.at(), ordinal));
        }
        self.by_time.insert((what.at(), ordinal));
    }

    pub(crate) fn remove(&mut self, ordinal: Ordinal) -> Option<T> {
        let what = self.by_ordinal.remove(&ordinal)?;
        self.by_time.remove(&(what.at(), ordinal));
        Some(what)
    }

    /// All that there is, in the order of the ordinals.
    pub(crate) fn values(&self) -> impl Iterator<Item = T> {
        self.by_ordinal.values().copied()
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
