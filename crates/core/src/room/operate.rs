//! What an operator can do.

use std::sync::Arc;

use super::{Reply, Room, RoomState, door::Door};
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

    pub(super) fn set_policy(
        &mut self,
        policy: Arc<Policy>,
        digest: Option<String>,
        now: Timestamp,
    ) -> Reply {
        if self.header.policy.presence_ttl.is_zero() && !policy.presence_ttl.is_zero() {
            self.start_watching(now);
        }
        self.visible |= self.header.policy != policy;
        self.header.policy = policy;
        if digest.is_some() {
            self.header.digest = digest;
        }
        Reply::Done
    }

    pub(super) fn set_stock(&mut self, left: Option<u64>) -> Reply {
        if self.header.stock != left {
            self.header.stock = left;
            self.visible = true;
            // The one that this transition makes.
            self.header.stock_version = self.header.version + 1;
        }
        Reply::Done
    }

    /// Presence matters from now on: who was there when it stopped mattering has three rounds from now.
    fn start_watching(&mut self, now: Timestamp) {
        for round in 1..self.seen.len() {
            for ordinal in self.seen[0].new_in(&self.seen[round]) {
                self.seen[0].insert(ordinal);
                self.changes
                    .seen(self.header.presence.number, Ordinal(ordinal));
            }
        }
        self.header.presence.started = now;
    }

    /// Everybody out, whatever the length of the line, by one number: `floor`.
    pub(super) fn reset(&mut self, now: Timestamp) -> Reply {
        while let Some(ordinal) = self.passes.due(now) {
            self.expire(ordinal);
        }
        self.header.counters.departed += self.passes.len() as u64;
        self.header.counters.revoked += self.places.len() as u64;
        self.header.floor = self.header.issued;
        self.header.head = self.header.issued;
        self.header.lost = None;
        self.places = Places::default();
        self.in_line = 0;
        for pass in std::mem::take(&mut self.passes).values() {
            self.note_stay(pass);
        }
        self.aside = Deadlines::default();
        self.door = Door::default();
        self.changes.places.clear();
        self.changes.renewed.clear();
        self.visible = true;
        Reply::Done
    }

    /// A room that is drained closes once nobody is left in it.
    pub(super) fn close_when_drained(&mut self) {
        if self.header.state == RoomState::Draining && self.places.len() == 0 {
            self.set_state(RoomState::Closed);
        }
    }

    /// Endings of places far below `head` are forgotten, but never those above a place that is live.
    pub(super) fn advance_base(&mut self) {
        let bounds = self.bounds;
        while self.header.head.0 - self.header.base.0 >= bounds.base_trail + bounds.base_step {
            let base = Ordinal(self.header.base.0 + bounds.base_step);
            if self
                .places
                .next_above(Ordinal(0))
                .is_some_and(|live| live <= base)
            {
                return;
            }
            self.header.base = base;
            self.forget_below_base();
        }
    }

    pub(super) fn forget_below_base(&mut self) {
        self.gone.forget_below(self.header.base.0);
        self.done.forget_below(self.header.base.0);
        self.reasons.forget_below(self.header.base);
        self.imported.forget_below(self.header.base.0);
        self.claimed.forget_below(self.header.base.0);
    }
}
