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
            } else if self.is_unclaimed(ordinal) {
                self.remember(joiner);
                self.claim(ordinal, now);
                Joined::Claimed(ordinal)
            } else {
                Joined::Already(ordinal)
            };
        }
        if self.header.state != RoomState::Open {
            return Joined::Closed;
        }
        if self.is_full(now) {
            return Joined::Full;
        }
        self.remember(joiner);
        let ordinal = self.take_place(&joiner.visitor);
        self.mark_one(ordinal, now);
        Joined::New(ordinal)
    }

    /// Whether the line is as long as it may be. Those before in the same batch may not have been let in
    /// yet, so they are before this is said.
    pub(super) fn is_full(&mut self, now: Timestamp) -> bool {
        let full = |room: &Self| room.in_line >= room.header.policy.waiting_max;
        if full(self) {
            self.settle(now);
        }
        full(self)
    }

    fn remember(&mut self, joiner: &Joiner) {
        if let Some(key) = joiner.key {
            self.keys.remember(key);
            self.changes.keys.push(key);
        }
    }

    /// A pass that ran out is no place, even before it was swept.
    pub(super) fn end_if_expired(&mut self, visitor: &Visitor, now: Timestamp) {
        let place = self.find(visitor);
        let expired = place.filter(|at| {
            self.passes
                .get(*at)
                .is_some_and(|pass| pass.expires_at <= now)
        });
        if let Some(ordinal) = expired {
            self.expire(ordinal);
        }
    }

    /// The next ordinal, in line.
    pub(super) fn take_place(&mut self, visitor: &Visitor) -> Ordinal {
        let ordinal = self.header.issued.next();
        self.header.issued = ordinal;
        self.places.insert(ordinal, visitor);
        self.in_line += 1;
        self.changed(ordinal);
        ordinal
    }
}
