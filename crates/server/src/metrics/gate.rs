//! What the gate answered, by room.

use std::{
    collections::HashMap,
    sync::{Arc, atomic::AtomicU64},
};

use arc_swap::ArcSwap;
use prometheus::proto::MetricFamily;
use ropeline_core::RoomId;
use ropeline_store::Store;

use super::{
    family::Family,
    threads::{PerThread, add},
};

/// What came of a question at the gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GateOutcome {
    /// The visitor is inside.
    Admitted,
    /// The visitor waits.
    Waiting,
    /// The visitor's place has ended.
    Ended,
    /// There was no token, or none that is valid for the room.
    NoToken,
    /// The store was unavailable, and the visitor was let through.
    Unchecked,
    /// The store was unavailable, and the visitor was refused.
    Unavailable,
}

const OUTCOMES: [(GateOutcome, &str); 6] = [
    (GateOutcome::Admitted, "admitted"),
    (GateOutcome::Waiting, "waiting"),
    (GateOutcome::Ended, "ended"),
    (GateOutcome::NoToken, "no_token"),
    (GateOutcome::Unchecked, "unchecked"),
    (GateOutcome::Unavailable, "unavailable"),
];

/// What was counted. Every question at the gate is, so that neither locks nor memory shared by threads are in its way:
/// the map is replaced when a room is asked about for the first time.
#[derive(Debug, Default)]
pub(super) struct GateAnswers(ArcSwap<HashMap<RoomId, Arc<Counts>>>);

type Counts = PerThread<[AtomicU64; OUTCOMES.len()]>;

impl GateAnswers {
    /// Counts an answer, unless there is no such room: anybody can invent names.
    pub(super) fn note(&self, room: &RoomId, outcome: GateOutcome, store: &dyn Store) {
        if let Some(counts) = self.0.load().get(room) {
            return add(&counts.here()[outcome as usize], 1);
        }
        if store.view(room).is_none() {
            return;
        }
        let new = Arc::<Counts>::default();
        self.0.rcu(|known| {
            let mut rooms = HashMap::clone(known);
            rooms
                .entry(room.clone())
                .or_insert_with(|| Arc::clone(&new));
            rooms
        });
        if let Some(counts) = self.0.load().get(room) {
            add(&counts.here()[outcome as usize], 1);
        }
    }

    /// The counts of these rooms. Those of rooms that are gone are dropped.
    pub(super) fn family(&self, rooms: &[RoomId]) -> Option<MetricFamily> {
        if self.0.load().keys().any(|room| !rooms.contains(room)) {
            self.0.rcu(|known| {
                let mut kept = HashMap::clone(known);
                kept.retain(|room, _| rooms.contains(room));
                kept
            });
        }
        let mut family = Family::counter(
            "ropeline_gate_answers_total",
            "Answers of the gate by room and outcome",
        );
        let known = self.0.load();
        for room in rooms {
            let Some(counts) = known.get(room) else {
                continue;
            };
            for (outcome, name) in OUTCOMES {
                let count = counts.sum(|of| &of[outcome as usize]);
                family.set(&[("outcome", name), ("room", room.as_str())], count);
            }
        }
        family.known()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_outcome_has_its_own_count() {
        for (at, (outcome, _)) in OUTCOMES.into_iter().enumerate() {
            assert_eq!(outcome as usize, at);
        }
    }
}
