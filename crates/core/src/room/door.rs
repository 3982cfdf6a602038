//! Who goes in before the line.

use std::collections::BTreeSet;

use crate::{Bits, Ordinal};

/// Places that are served before the line, by ordinal: they missed their turn and are back, or were put back.
///
/// There may be thousands, each of whom asks every second how many are before them, so that is counted in bits.
#[derive(Debug, Clone, Default)]
pub(super) struct Door {
    places: BTreeSet<Ordinal>,
    counted: Bits,
}

impl Door {
    /// Adds a place; says whether it is new.
    pub(super) fn insert(&mut self, ordinal: Ordinal) -> bool {
        self.counted.insert(ordinal.0);
        self.places.insert(ordinal)
    }

    /// Takes a place away; says whether it was there.
    pub(super) fn remove(&mut self, ordinal: Ordinal) -> bool {
        self.counted.remove(ordinal.0);
        self.places.remove(&ordinal)
    }

    pub(super) fn contains(&self, ordinal: Ordinal) -> bool {
        self.counted.contains(ordinal.0)
    }

    /// Whoever goes in next.
    pub(super) fn first(&self) -> Option<Ordinal> {
        self.places.first().copied()
    }

    /// How many go in before a place.
    pub(super) fn before(&self, ordinal: Ordinal) -> u64 {
        self.counted.count(0..ordinal.0)
    }

    pub(super) fn len(&self) -> u64 {
        self.places.len() as u64
    }

    pub(super) fn is_empty(&self) -> bool {
        self.places.is_empty()
    }
}
