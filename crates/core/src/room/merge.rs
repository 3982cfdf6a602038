//! The fence and what lifts it: merging what the nodes know into a store that may have forgotten.
//!
//! Maximum and union commute, so there is no leader and no order among the nodes.

use std::{sync::Arc, time::Duration};

use super::{Bounds, Ending, Header, LostRange, Reply, Room, RoomState, ServerId};
use crate::{Ordinal, Timestamp, View};

/// From the first merge joins are held for this long, so that every live node has merged before the
/// next ordinal is given.
const JOIN_HOLD: Duration = Duration::from_secs(1);
/// Holders of lost places are given at least this long to ask again.
const LOST_MIN: Duration = Duration::from_secs(60);

impl Room {
    /// A missing room as a node remembers it: the same room, all of whose places are lost for now.
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
        room.merge_as(memory, room.header.clock.read(clock), true);
        room.header.version += 1;
        room.visible = false;
        room
    }

    pub(super) fn merge(&mut self, memory: &View, now: Timestamp) -> Reply {
        let first = self.is_fenced();
        self.header.server = self.host.clone();
        self.merge_as(memory, now, first);
        Reply::Done
    }

    fn merge_as(&mut self, memory: &View, now: Timestamp, first: bool) {
        self.visible = true;
        // Whatever became of the room meanwhile: nobody who has seen a version is shown a lower one.
        self.header.version = self.header.version.max(memory.header.version);
        if first {
            self.header.joins_held_until = now + JOIN_HOLD;
        }
        if memory.header.epoch < self.header.epoch {
            return;
        }
        if memory.header.epoch > self.header.epoch {
            self.start_over(memory, now);
        }
        if self.is_deleted() || memory.header.state == RoomState::Deleted {
            self.header.issued = self.header.issued.max(memory.header.issued);
            self.delete(now);
            return;
        }
        self.take_maximum(memory, now);
        self.take_union(memory);
        self.bring_to_the_door();
    }

    /// The store has gone back to before the room was deleted and created again.
    fn start_over(&mut self, memory: &View, now: Timestamp) {
        self.reset(now);
        let header = &mut self.header;
        header.epoch = memory.header.epoch;
        header.state = memory.header.state;
        header.policy = Arc::clone(&memory.header.policy);
        (header.issued, header.head) = (Ordinal(0), Ordinal(0));
        (header.floor, header.base) = (Ordinal(0), Ordinal(0));
        header.imported_until = Timestamp(0);
        (header.stock, header.stock_version) = (None, 0);
        (self.gone, self.done) = Default::default();
        (self.imported, self.claimed) = Default::default();
    }

    fn take_maximum(&mut self, memory: &View, now: Timestamp) {
        let known = &memory.header;
        let header = &mut self.header;
        if known.issued > header.issued {
            let grace = header.policy.presence_ttl.max(LOST_MIN);
            let after = header
                .lost
                .map_or(header.issued, |lost| lost.after.min(header.issued));
            header.lost = Some(LostRange {
                after,
                until: now + grace,
            });
            header.issued = known.issued;
        }
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
