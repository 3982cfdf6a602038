//! The fence and what lifts it: merging what the nodes know into a store that may have forgotten.
//!
//! Maximum and union commute, so there is no leader and no order among the nodes.

use std::{sync::Arc, time::Duration};

use super::{Bounds, Ending, Header, LostRange, Reply, Room, RoomState, ServerId};
use crate::{Bits, Ordinal, Policy, Reasons, Timestamp, View};

/// From a raise joins are held for this long, so that every live node has merged before the next ordinal is given.
const JOIN_HOLD: Duration = Duration::from_secs(1);
/// For how long a node may rely on its last word that a server has not been replaced.
pub const LEASE: Duration = Duration::from_secs(2);
/// Behind those who may replace a server, nobody is admitted after a raise for this long: a node that was cut off with
/// the former server opens the gate until its lease is over.
const ADMISSION_HOLD: Duration = Duration::from_millis(2_500);
/// Holders of lost places are given at least this long to ask again.
const LOST_MIN: Duration = Duration::from_secs(60);
/// The version jumps by this much at a raise. So every version of a generation is higher than what a server that fell
/// behind, or was replaced without knowing it, has shown of the generation before.
pub const VERSION_JUMP: u64 = 1 << 20;

impl Room {
    /// A missing room as a node remembers it: the same room in a new generation, all of whose places are lost for now.
    pub fn from_memory(memory: &View, host: ServerId, clock: Timestamp, bounds: Bounds) -> Self {
        let mut room = Self::new((*memory.header.policy).clone(), host, clock, bounds);
        room.header.clock.catch_up(clock, memory.as_of);
        room.header = Header {
            epoch: memory.header.epoch,
            state: memory.header.state,
            paused: memory.header.paused,
            digest: memory.header.digest.clone(),
            counters: memory.header.counters,
            ..room.header
        };
        let now = room.header.clock.read(clock);
        room.take_in(memory, now);
        room.raise(&memory.header, now);
        room.header.version += 1;
        room.visible = false;
        room
    }

    /// Takes in what a node knows, and begins another generation if the store may have missed something.
    pub(super) fn merge(&mut self, memory: &View, now: Timestamp) -> Reply {
        let raise = self.must_raise(&memory.header);
        self.take_in(memory, now);
        if raise {
            self.raise(&memory.header, now);
        }
        Reply::Done
    }

    /// Whether a merge begins another generation. Nobody raises against a higher number on the server that was
    /// raised last, so each reason raises once.
    pub(super) fn must_raise(&self, known: &Header) -> bool {
        let ours = &self.header;
        self.is_fenced()
            || known.generation > ours.generation
            || (known.generation == ours.generation && known.server != ours.server)
            || known.term > ours.term
    }

    fn raise(&mut self, known: &Header, now: Timestamp) {
        self.confirmed = Bits::default();
        let header = &mut self.header;
        header.generation = header.generation.max(known.generation) + 1;
        header.term = header.term.max(known.term);
        header.version += VERSION_JUMP;
        let nonce = format!("{}.{}", now.0, header.version);
        header.server = ServerId::raised(&self.host, &nonce);
        header.joins_held_until = now + JOIN_HOLD;
        let admission_hold = if header.term > 0 {
            ADMISSION_HOLD
        } else {
            JOIN_HOLD
        };
        header.admission_held_until = header.admission_held_until.max(now + admission_hold);
        let grace = grace(&header.policy);
        if let Some(lost) = &mut header.lost {
            lost.until = now + grace;
        }
    }

    fn take_in(&mut self, memory: &View, now: Timestamp) {
        self.visible = true;
        // Whatever became of the room meanwhile: nobody who has seen a version is shown a lower one.
        self.header.version = self.header.version.max(memory.header.version);
        if self.header.voids(memory.header.epoch) {
            return;
        }
        if self.outlives(&memory.header) {
            let ours = &mut self.header.deleted_until;
            *ours = memory.header.deleted_until.max(*ours);
            return;
        }
        let created_since = self.is_deleted() && memory.header.state != RoomState::Deleted;
        if memory.header.voids(self.header.epoch) || created_since {
            let deleted_until = self.header.deleted_until.max(memory.header.deleted_until);
            self.start_over(memory, now);
            self.header.deleted_until = deleted_until;
        }
        if self.is_deleted() || memory.header.state == RoomState::Deleted {
            self.header.issued = self.header.issued.max(memory.header.issued);
            self.empty(now);
            return;
        }
        self.take_maximum(memory, now);
        self.take_union(memory);
        self.bring_to_the_door();
    }

    /// Whether the node remembers that the room was deleted, which was before this one was created.
    fn outlives(&self, known: &Header) -> bool {
        known.state == RoomState::Deleted && !self.is_deleted() && !known.voids(self.header.epoch)
    }

    /// The store has gone back to before the room was deleted, or to before it was created again.
    fn start_over(&mut self, memory: &View, now: Timestamp) {
        self.reset(now);
        let header = &mut self.header;
        header.epoch = memory.header.epoch;
        header.deleted_until = memory.header.deleted_until;
        header.state = memory.header.state;
        header.policy = Arc::clone(&memory.header.policy);
        (header.issued, header.head) = (Ordinal(0), Ordinal(0));
        (header.floor, header.base) = (Ordinal(0), Ordinal(0));
        header.imported_until = Timestamp(0);
        (header.stock, header.stock_version) = (None, 0);
        (self.gone, self.done) = Default::default();
        self.reasons = Reasons::default();
        (self.imported, self.claimed) = Default::default();
    }

    fn take_maximum(&mut self, memory: &View, now: Timestamp) {
        let known = &memory.header;
        let header = &mut self.header;
        let grace = grace(&header.policy);
        if known.issued > header.issued {
            let after = header
                .lost
                .map_or(header.issued, |lost| lost.after.min(header.issued));
            header.lost = Some(LostRange {
                after,
                until: now + grace,
            });
            header.issued = known.issued;
        }
        // A node that knew nothing has created the room again; the older one goes on. Its places are behind the head, so
        // admission waits for their holders as it does for a lost range.
        if known.epoch != header.epoch {
            header.admission_held_until = header.admission_held_until.max(now + grace);
        }
        header.admission_held_until = header.admission_held_until.max(known.admission_held_until);
        header.epoch = header.epoch.min(known.epoch);
        header.deleted_until = header.deleted_until.max(known.deleted_until);
        header.lost = joined(header.lost, known.lost);
        header.head = header.head.max(known.head);
        header.floor = header.floor.max(known.floor);
        header.base = header.base.max(known.base);
        // What was told last; of two that were told in the same version, while the nodes were apart, the larger.
        (header.stock_version, header.stock) =
            (header.stock_version, header.stock).max((known.stock_version, known.stock));
        if let Some(lost) = &mut header.lost {
            lost.after = lost.after.max(header.head);
        }
        self.forget_below_base();
    }

    /// What has ended stays ended, whatever the store says.
    fn take_union(&mut self, memory: &View) {
        for ordinal in self.gone.new_in(&memory.gone) {
            self.end(Ordinal(ordinal), Ending::Gone);
        }
        for ordinal in self.done.new_in(&memory.done) {
            self.end(Ordinal(ordinal), Ending::Done);
        }
        self.end_up_to(self.header.base, Ending::Done);
        self.end_up_to(self.header.floor, Ending::Gone);
    }

    fn end_up_to(&mut self, last: Ordinal, ending: Ending) {
        while let Some(ordinal) = self.places.next_above(Ordinal(0)).filter(|at| *at <= last) {
            self.end(ordinal, ending);
        }
    }

    /// Places in line that the nodes saw pass by go to the door.
    fn bring_to_the_door(&mut self) {
        let mut at = Ordinal(0);
        while let Some(ordinal) = self
            .places
            .next_above(at)
            .filter(|at| *at <= self.header.head)
        {
            at = ordinal;
            let passed_by = self.passes.get(ordinal).is_none()
                && self.aside.get(ordinal).is_none()
                && self.door.insert(ordinal);
            if passed_by {
                self.in_line -= 1;
                self.changed(ordinal);
            }
        }
    }
}

/// How long holders of lost places are given to ask again.
fn grace(policy: &Policy) -> Duration {
    policy.presence_ttl.max(LOST_MIN)
}

/// Two accounts of what was lost: it begins with the first place that anybody misses, and nobody's time is cut short.
fn joined(ours: Option<LostRange>, theirs: Option<LostRange>) -> Option<LostRange> {
    match (ours, theirs) {
        (Some(ours), Some(theirs)) => Some(LostRange {
            after: ours.after.min(theirs.after),
            until: ours.until.max(theirs.until),
        }),
        (ours, theirs) => ours.or(theirs),
    }
}
