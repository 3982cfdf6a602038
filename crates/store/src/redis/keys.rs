//! The names of a room's keys. All of them share a hash tag, so that a Cluster keeps them together.

use ropeline_core::RoomId;

use super::slot::Slot;
use crate::loops::{LOOPS, LoopNumber};

/// The set of all rooms.
pub(super) const ROOMS: &str = "rl:rooms";

/// In the order in which every function has them in `KEYS`.
const PARTS: [&str; 17] = [
    "room",
    "places",
    "active",
    "since",
    "aside",
    "door",
    "gone",
    "done",
    "seen0",
    "seen1",
    "seen2",
    "log",
    "keys0",
    "keys1",
    "imported",
    "claimed",
    "confirmed",
];

/// Batches of joins that are on their way from an event loop at the same time.
const LANES: usize = 2;

/// One of the ways that a node's joins of a room take: there is one batch at a time in each, so that what Redis
/// remembers of the last one is enough to answer it again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Lane(pub(super) usize);

impl Lane {
    /// How many there are.
    pub(super) const COUNT: usize = LANES * LOOPS;

    /// Those of an event loop.
    pub(super) fn of(at: LoopNumber) -> [Self; LANES] {
        std::array::from_fn(|lane| Self(at.0 * LANES + lane))
    }
}

/// The keys of one room.
#[derive(Debug)]
pub(super) struct RoomKeys {
    parts: Vec<String>,
    /// What this node wrote down of its last batch of joins, without the lane.
    joins: String,
    /// And of the last word of an operator that it passed on.
    words: String,
    slot: Slot,
}

impl RoomKeys {
    pub(super) fn of(room: &RoomId, node: &str) -> Self {
        let key = |part: &str| format!("rl:{{{room}}}:{part}");
        Self {
            parts: PARTS.iter().map(|part| key(part)).collect(),
            joins: key(&format!("joins:{node}")),
            words: key(&format!("words:{node}")),
            slot: Slot::of(&key("")),
        }
    }

    /// Where all of them are.
    pub(super) fn slot(&self) -> Slot {
        self.slot
    }

    pub(super) fn parts(&self) -> &[String] {
        &self.parts
    }

    pub(super) fn joins(&self, lane: Lane) -> String {
        format!("{}:{}", self.joins, lane.0)
    }

    pub(super) fn words(&self) -> &str {
        &self.words
    }

    pub(super) fn aside(&self) -> &str {
        &self.parts[4]
    }

    /// The key of a part, which must be one.
    pub(super) fn part(&self, part: &str) -> &str {
        let at = PARTS.iter().position(|known| *known == part);
        &self.parts[at.expect("a part of a room")]
    }
}

/// A text that all nodes share.
pub(super) fn shared(name: &str) -> String {
    format!("rl:shared:{name}")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Two batches at a time in a lane would overwrite each other's note, and one that is sent again be taken for new.
    #[test]
    fn no_two_event_loops_share_a_lane() {
        let lanes = (0..LOOPS).flat_map(|number| Lane::of(LoopNumber(number)));
        let lanes: BTreeSet<_> = lanes.map(|lane| lane.0).collect();
        assert!(lanes.into_iter().eq(0..Lane::COUNT));
    }
}
