//! Joining.

use super::{Joined, Joiner, Reply, Room, RoomState};
use crate::{Ordinal, Timestamp, Visitor};

impl Room {
    pub(super) fn join(&mut self, joiners: &[Joiner], now: Timestamp) -> Reply {
        if now < self.header.joins_held_until {
            return Reply::Held(now.until(self.header.joins_held_until));
        }
        Reply::Joined(
            joiners
                .iter()
                .map(|joiner| self.join_one(joiner, now))
                .collect(),
        )
    }

    fn join_one(&mut self, joiner: &Joiner, now: Timestamp) -> Joined {
        let known = joiner
            .key
            .and_then(|key| self.keys.body_of(key.key).map(|body| body == key.body));
        if known == Some(false) {
            return Joined::KeyReused;
        }
        self.end_if_expired(&joiner.visitor, now);
        if let Some(ordinal) = self.find(&joiner.visitor) {
            return if known.is_some() {
                Joined::Repeated(ordinal)
            } else {
                Joined::Already(ordinal)
            };
        }
        if self.header.state != RoomState::Open {
            return Joined::Closed;
        }
        if self.in_line >= self.header.policy.waiting_max {
            // Those before in the same batch may not have been let in yet.
            self.settle(now);
            if self.in_line >= self.header.policy.waiting_max {
                return Joined::Full;
            }
        }
        if let Some(key) = joiner.key {
            self.keys.remember(key);
            self.changes.keys.push(key);
        }
        Joined::New(self.take_place(&joiner.visitor, now))
    }

    /// A pass that ran out is no place, even before it was swept.
    pub(super) fn end_if_expired(&mut self, visitor: &Visitor, now: Timestamp) {
        let place = self.find(visitor);
        let expired = place.filter(|at| self.passes.get(*at).is_some_and(|until| until <= now));
        if let Some(ordinal) = expired {
            self.expire(ordinal);
        }
    }

    fn take_place(&mut self, visitor: &Visitor, now: Timestamp) -> Ordinal {
        let ordinal = self.header.issued.next();
        self.header.issued = ordinal;
        self.places.insert(ordinal, visitor);
        self.in_line += 1;
        self.mark_one(ordinal, now);
        self.changed(ordinal);
        ordinal
    }
}
