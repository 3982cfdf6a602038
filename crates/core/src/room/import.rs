//! Taking over the places of another queue, and handing each to the visitor who joins for it.

use std::time::Duration;

use super::{ImportRow, Imported, Reply, Room, Was};
use crate::{Ordinal, Timestamp, places::Name};

impl Room {
    pub(super) fn import(&mut self, rows: &[ImportRow], grace: Duration, now: Timestamp) -> Reply {
        if let Some(wait) = self.joins_held_for(now) {
            return Reply::Held(wait);
        }
        let until = self.header.imported_until.max(now + grace);
        self.visible |= until != self.header.imported_until;
        self.header.imported_until = until;
        self.turn_tick(now);
        Reply::Imported(rows.iter().map(|row| self.import_one(row, now)).collect())
    }

    fn import_one(&mut self, row: &ImportRow, now: Timestamp) -> Imported {
        let name = self.places.name(&row.visitor);
        if let Some(ordinal) = self.find_live(name, now) {
            return if self.is_unclaimed(ordinal) {
                Imported::Repeated(ordinal)
            } else {
                Imported::Already(ordinal)
            };
        }
        let ordinal = match row.was {
            Was::Waiting if self.is_full(now) => return Imported::Full,
            Was::Waiting => self.take_place(name),
            // A place at or below the head of the line must not come behind anybody in it.
            Was::Inside if self.header.head != self.header.issued => return Imported::LineAhead,
            Was::Inside => self.take_place_inside(name, now),
        };
        self.imported.insert(ordinal.0);
        self.changes.imported(ordinal);
        Imported::Placed(ordinal)
    }

    /// The next ordinal, inside while the cap allows it, else at the door.
    ///
    /// Whoever was inside takes nothing of the batch of this tick: the service bears them already.
    fn take_place_inside(&mut self, name: Name<'_>, now: Timestamp) -> Ordinal {
        let ordinal = self.take_place(name);
        self.in_line -= 1;
        self.header.head = ordinal;
        let cap = self.header.policy.active_max.unwrap_or(u64::MAX);
        if (self.passes.len() as u64) < cap {
            self.header.tick.extra = self.header.tick.extra.saturating_add(1);
            self.enter(ordinal..=ordinal, now);
        } else {
            self.door.insert(ordinal);
        }
        ordinal
    }

    /// Whether an import gave the place and no join has asked for it yet.
    pub(super) fn is_unclaimed(&self, ordinal: Ordinal) -> bool {
        self.imported.contains(ordinal.0) && !self.claimed.contains(ordinal.0)
    }

    pub(super) fn claim(&mut self, ordinal: Ordinal, now: Timestamp) {
        self.claimed.insert(ordinal.0);
        self.changes.claimed(ordinal);
        self.mark_one(ordinal, now);
    }
}
