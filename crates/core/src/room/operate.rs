//! What an operator can do.

use std::sync::Arc;

use super::{Reply, Room, RoomState};
use crate::{Ordinal, Policy, Timestamp, deadlines::Deadlines, places::Places};

impl Room {
    pub(super) fn admit_extra(&mut self, count: u64, now: Timestamp) -> Reply {
        self.turn_tick(now);
        self.header.tick.extra = self.header.tick.extra.saturating_add(count);
        self.visible = true;
        Reply::Done
    }

    pub(super) fn set_paused(&mut self, paused: bool) -> Reply {
        self.visible |= self.header.paused != paused;
        self.header.paused = paused;
        Reply::Done
    }

    pub(super) fn set_state(&mut self, state: RoomState) -> Reply {
        self.visible |= self.header.state != state;
        self.header.state = state;
        Reply::Done
    }

    pub(super) fn set_policy(&mut self, policy: Arc<Policy>, digest: Option<String>) -> Reply {
        self.visible |= self.header.policy != policy;
        self.header.policy = policy;
        if digest.is_some() {
            self.header.digest = digest;
        }
        Reply::Done
    }

    /// Everybody out, whatever the length of the line, by one number: `floor`.
    pub(super) fn reset(&mut self) -> Reply {
        self.header.counters.departed += self.passes.len() as u64;
        self.header.counters.revoked += self.places.len() as u64;
        self.header.floor = self.header.issued;
        self.header.head = self.header.issued;
        self.header.lost = None;
        self.places = Places::default();
        self.in_line = 0;
        self.passes = Deadlines::default();
        self.since.clear();
        self.aside = Deadlines::default();
        self.door.clear();
        self.changes.places.clear();
        self.visible = true;
        Reply::Done
    }

    /// A room that is drained closes once nobody is left in it.
    pub(super) fn close_when_drained(&mut self) {
        if self.header.state == RoomState::Draining && self.places.len() == 0 {
            self.set_state(RoomState::Closed);
        }
    }

    /// Endings of places far below `head` are forgotten.
    pub(super) fn advance_base(&mut self) {
        let bounds = self.bounds;
        while self.header.head.0 - self.header.base.0 >= bounds.base_trail + bounds.base_step {
            self.header.base = Ordinal(self.header.base.0 + bounds.base_step);
            self.gone.forget_below(self.header.base.0);
            self.done.forget_below(self.header.base.0);
        }
    }
}
