//! The cap: how many would be let through the gates at the same time.

use std::collections::BTreeSet;

use ropeline_core::{Live, Room, Standing};

use super::{Checker, Excuse, LEASE, Promise};
use crate::fleet::{network::clock, schedule::Millis};

impl Checker {
    /// `rooms` are those on which some gate relies now.
    pub(in crate::fleet) fn check_cap(&mut self, rooms: &[&Room], now: Millis) {
        self.cap_is_due = false;
        let mut inside = BTreeSet::new();
        for (visitor, name) in self.visitors.iter().enumerate() {
            if rooms.iter().any(|room| is_inside(room, name, now)) {
                inside.insert(visitor);
            }
        }
        if inside.len() <= self.cap {
            return;
        }
        let failover = self.last_loss();
        if now <= failover + LEASE {
            self.excuses.make(Excuse::WithinLease);
        } else {
            let late = now - failover;
            let seen = format!("{inside:?} are inside, {late} ms after the last failover");
            self.break_promise(Promise::CapHeld, seen);
        }
    }
}

fn is_inside(room: &Room, visitor: &ropeline_core::Visitor, now: Millis) -> bool {
    let Some(ordinal) = room.find(visitor) else {
        return false;
    };
    let standing = room.standing_of_joined(ordinal, clock(now));
    matches!(standing, Standing::Live(Live::Inside(_)))
}
