//! What the holder of a token can do: be there, use a pass, leave, finish; and be put out.

use std::time::Duration;

use super::{Departure, Ending, Holder, Live, Pass, Reply, Room, Standing};
use crate::{Ordinal, Reason, Timestamp, Visitor};

impl Room {
    /// Renews a live pass and nothing else: the part of [`Command::Renew`](super::Command::Renew) that
    /// changes nothing a view shows. `None` if there is no live pass, or something waits to be settled
    /// first.
    pub fn renew_pass(&mut self, holder: &Holder, clock: Timestamp) -> Option<Pass> {
        let now = self.now(clock);
        if self.is_fenced() || self.next_due().is_some_and(|due| due <= now) {
            return None;
        }
        self.renew_one(holder, now)
    }

    pub(super) fn renew(&mut self, holders: &[Holder], now: Timestamp) -> Reply {
        let standings = holders.iter().map(|holder| {
            if self.renew_one(holder, now).is_none() {
                self.restore_one(holder, now);
            }
            (holder.clone(), Standing::Unknown)
        });
        Reply::Standing(standings.collect())
    }

    /// The live pass of a holder.
    fn live_pass(&self, holder: &Holder, now: Timestamp) -> Option<Pass> {
        if self.find(&holder.visitor) != Some(holder.ordinal) {
            return None;
        }
        let pass = self.passes.get(holder.ordinal)?;
        (pass.expires_at > now).then_some(pass)
    }

    /// Until when a pass may last if it is to last until `wanted`.
    fn at_most(&self, pass: Pass, wanted: Timestamp) -> Timestamp {
        match self.header.policy.pass_max {
            max if max.is_zero() => wanted,
            max => wanted.min(pass.since + max),
        }
    }

    pub(super) fn keep(&mut self, holder: &Holder, business: Duration, now: Timestamp) -> Reply {
        if let Some(pass) = self.live_pass(holder, now) {
            let expires_at = match business {
                Duration::ZERO => pass.expires_at.min(now + self.header.policy.pass_ttl),
                business => pass.expires_at.max(self.at_most(pass, now + business)),
            };
            if expires_at != pass.expires_at {
                let kept = Pass { expires_at, ..pass };
                self.passes.set(holder.ordinal, kept);
                self.changes.place(holder.ordinal);
            }
        }
        Reply::Standing(vec![(holder.clone(), Standing::Unknown)])
    }

    fn renew_one(&mut self, holder: &Holder, now: Timestamp) -> Option<Pass> {
        let pass = self.live_pass(holder, now)?;
        self.confirm(holder.ordinal);
        let renewed = self.at_most(pass, now + self.header.policy.pass_ttl);
        if renewed <= pass.expires_at {
            return Some(pass);
        }
        let renewed = Pass {
            expires_at: renewed,
            ..pass
        };
        self.passes.set(holder.ordinal, renewed);
        self.changes.renewed(holder.ordinal);
        Some(renewed)
    }

    pub(super) fn restore(&mut self, holders: &[Holder], now: Timestamp) -> Reply {
        let standings = holders.iter().map(|holder| {
            self.restore_one(holder, now);
            (holder.clone(), Standing::Unknown)
        });
        Reply::Standing(standings.collect())
    }

    /// Takes the word of a node for places that it has acknowledged.
    pub(super) fn retell(&mut self, holders: &[Holder], now: Timestamp) -> Reply {
        for holder in holders {
            let held_by_another = self.find(&holder.visitor) != Some(holder.ordinal);
            if held_by_another && self.is_unproven(holder.ordinal) {
                self.put_back(&holder.visitor, holder.ordinal, now);
            } else {
                self.restore_one(holder, now);
            }
        }
        Reply::Done
    }

    fn restore_one(&mut self, holder: &Holder, now: Timestamp) {
        let Holder { visitor, ordinal } = holder;
        match self.standing_at(holder, now) {
            Standing::Live(_) => {
                self.confirm(*ordinal);
                self.mark_one(*ordinal, now);
            }
            Standing::Lost => self.put_back(visitor, *ordinal, now),
            Standing::Ended(_) | Standing::Unknown => {}
        }
    }

    /// Drops a place without ending it: another visitor may have been told of it.
    fn forget(&mut self, ordinal: Ordinal) {
        if self.aside.remove(ordinal).is_none() && !self.door.remove(ordinal) {
            self.in_line -= 1;
        }
        self.places.remove(ordinal);
        self.changed(ordinal);
    }

    /// Notes that a place was proved, or given in this generation, which matters only while some are lost.
    pub(super) fn confirm(&mut self, ordinal: Ordinal) {
        if self.header.lost.is_some() {
            self.confirmed.insert(ordinal.0);
        }
    }

    /// Whether a place that waits is held by a visitor who may never have received it: a server that was replaced gave
    /// it, and came back without knowing that another server had given it meanwhile.
    fn is_unproven(&self, ordinal: Ordinal) -> bool {
        self.lacks_proof(ordinal) && self.passes.get(ordinal).is_none()
    }

    /// The same for a place inside.
    fn is_inside_unproven(&self, ordinal: Ordinal) -> bool {
        self.lacks_proof(ordinal) && self.passes.get(ordinal).is_some()
    }

    fn lacks_proof(&self, ordinal: Ordinal) -> bool {
        self.header.generation > 0
            && self.header.lost.is_some()
            && self.places.contains(ordinal)
            && !self.confirmed.contains(ordinal.0)
    }

    /// Puts a lost place back. It was counted as waiting all the time, so nobody's `ahead` changes.
    ///
    /// If the visitor has joined again meanwhile, the lower ordinal stays and the other is gone; but
    /// whoever is inside stays inside. A place of theirs that nobody has proved gives way in any case: a server that was
    /// replaced may have given it without telling them.
    fn put_back(&mut self, visitor: &Visitor, ordinal: Ordinal, now: Timestamp) {
        let name = self.places.name(visitor);
        if let Some(other) = self.find_live(name, now) {
            if self.is_inside_unproven(other) {
                self.end(other, Ending::Done);
            } else if self.is_unproven(other) {
                self.forget(other);
            } else if other < ordinal || self.passes.get(other).is_some() {
                self.end(ordinal, Ending::Gone);
                return;
            } else {
                self.end(other, Ending::Gone);
            }
        }
        // A holder who gives way stood where this one stands now.
        let displaces = self.places.remove(ordinal);
        self.places.insert(ordinal, name);
        if !displaces && ordinal > self.header.head {
            self.in_line += 1;
        } else if !displaces {
            self.door.insert(ordinal);
        }
        self.header.counters.restored += 1;
        self.confirm(ordinal);
        self.mark_one(ordinal, now);
        self.changed(ordinal);
    }

    pub(super) fn mark(&mut self, ordinals: &[Ordinal], now: Timestamp) -> Reply {
        for ordinal in ordinals {
            if self.places.contains(*ordinal) {
                self.mark_one(*ordinal, now);
            }
        }
        Reply::Done
    }

    /// Notes that the holder of a live place is there; one who missed a turn is at the door again.
    pub(super) fn mark_one(&mut self, ordinal: Ordinal, now: Timestamp) {
        let was = self.state_of(ordinal);
        match was {
            Live::Inside(_) => return,
            Live::Aside(until) if until <= now => return,
            Live::InLine | Live::AtDoor { .. } | Live::Aside(_) => {}
        }
        if self.seen[0].insert(ordinal.0) {
            self.changes.seen(self.header.presence.number, ordinal);
        }
        if let Live::Aside(_) = was {
            self.aside.remove(ordinal);
            self.door.insert(ordinal);
            self.changed(ordinal);
        }
    }

    pub(super) fn leave(&mut self, holder: &Holder, now: Timestamp) -> Reply {
        Reply::Departed(match self.standing_at(holder, now) {
            Standing::Live(Live::Inside(_)) => self.end_pass(holder.ordinal),
            Standing::Live(_) | Standing::Lost => self.give_up(holder.ordinal),
            Standing::Ended(_) | Standing::Unknown => Departure::Nothing,
        })
    }

    pub(super) fn finish(&mut self, holder: &Holder, now: Timestamp) -> Reply {
        Reply::Departed(match self.standing_at(holder, now) {
            Standing::Live(Live::InLine | Live::Aside(_)) => Departure::NotInside,
            // Above the head there is only "gone": whether it was inside has been forgotten with it.
            Standing::Lost if holder.ordinal > self.header.head => self.give_up(holder.ordinal),
            // A place that was lost, or put back at the door, was inside when its business was done.
            Standing::Live(_) | Standing::Lost => self.end_pass(holder.ordinal),
            Standing::Ended(_) | Standing::Unknown => Departure::Nothing,
        })
    }

    fn give_up(&mut self, ordinal: Ordinal) -> Departure {
        self.header.counters.left += 1;
        self.end_for(ordinal, Reason::Left);
        Departure::Left
    }

    fn end_pass(&mut self, ordinal: Ordinal) -> Departure {
        self.header.counters.finished += 1;
        self.end_for(ordinal, Reason::Finished);
        Departure::Finished
    }

    pub(super) fn revoke(&mut self, visitor: &Visitor, now: Timestamp) -> Reply {
        let place = self.find_live(self.places.name(visitor), now);
        if let Some(ordinal) = place {
            self.header.counters.revoked += 1;
            self.end_for(ordinal, Reason::Removed);
        }
        Reply::Revoked(place)
    }

    /// Fills in where holders stand, which is known only after settling.
    pub(super) fn refresh(&self, reply: Reply, now: Timestamp) -> Reply {
        let Reply::Standing(holders) = reply else {
            return reply;
        };
        let settled = holders.into_iter().map(|(holder, _)| {
            let standing = self.standing_at(&holder, now);
            (holder, standing)
        });
        Reply::Standing(settled.collect())
    }
}
