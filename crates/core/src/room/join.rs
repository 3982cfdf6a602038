//! Joining.

use super::{Joined, Joiner, Live, Reply, Room, RoomState};
use crate::{Ordinal, Timestamp, places::Name};

impl Room {
    pub(super) fn join(&mut self, joiners: &[Joiner], now: Timestamp) -> Reply {
        if let Some(wait) = self.joins_held_for(now) {
            return Reply::Held(wait);
        }
        let names: Vec<_> = joiners
            .iter()
            .map(|joiner| self.places.name(&joiner.visitor))
            .collect();
        self.places.warm_up(&names);
        self.changes.places.reserve(joiners.len());
        let joined = joiners.iter().zip(names);
        Reply::Joined(
            joined
                .map(|(joiner, name)| self.join_one(joiner, name, now))
                .collect(),
        )
    }

    fn join_one(&mut self, joiner: &Joiner, name: Name<'_>, now: Timestamp) -> Joined {
        let known = joiner
            .key
            .and_then(|key| self.keys.body_of(key.key).map(|body| body == key.body));
        if known == Some(false) {
            return Joined::KeyReused;
        }
        if let Some(ordinal) = self.find_live(name, now) {
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
        let ordinal = self.take_place(name);
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

    /// A visitor's place. A pass that ran out is none, even before it was swept: it ends here.
    pub(super) fn find_live(&mut self, name: Name<'_>, now: Timestamp) -> Option<Ordinal> {
        let place = self.places.ordinal_of(name)?;
        match self.state_of(place) {
            Live::Inside(pass) if pass.expires_at <= now => {
                self.expire(place);
                None
            }
            _ => Some(place),
        }
    }

    /// The next ordinal, in line.
    pub(super) fn take_place(&mut self, name: Name<'_>) -> Ordinal {
        let ordinal = self.header.issued.next();
        self.header.issued = ordinal;
        self.places.insert(ordinal, name);
        self.confirm(ordinal);
        self.in_line += 1;
        self.changed(ordinal);
        ordinal
    }
}
