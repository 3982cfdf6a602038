//! Settling: the end of every transition, and the one place where people are let in.

use std::ops::RangeInclusive;

use super::{LostRange, Pass, Room};
use crate::{Ordinal, Reason, Timestamp, keys::KEY_ROUND, time::millis};

impl Room {
    /// Ends what ran out, starts the tick that is due, and spends the budget. Says whether more is to be
    /// done than one transition may do.
    pub(super) fn settle(&mut self, now: Timestamp) -> bool {
        let swept = self.sweep(now);
        self.turn_tick(now);
        // Passes that ran out but are not swept yet would count against the cap.
        let mut more = !swept;
        if now >= self.header.admission_held_until {
            more = more || self.admit(now);
            self.step_over_an_empty_line();
            self.end_lost_range(now);
        }
        self.close_when_drained();
        self.advance_base();
        more
    }

    /// Rounds end one at a time and only here, so an outage or a jump of the clock makes nobody absent.
    pub(super) fn turn_rounds(&mut self, now: Timestamp) {
        let length = self.header.policy.round();
        if !length.is_zero() && now >= self.header.presence.started + length {
            self.seen.rotate_right(1);
            self.seen[0] = crate::Bits::default();
            self.header.presence.number += 1;
            self.header.presence.started = now;
        }
        let silent = now >= self.header.keys.started + KEY_ROUND * 2;
        if now >= self.header.keys.started + KEY_ROUND || self.keys.is_full() {
            self.turn_keys(now);
        }
        if silent {
            self.turn_keys(now);
        }
    }

    fn turn_keys(&mut self, now: Timestamp) {
        self.keys.turn();
        self.header.keys.number += 1;
        self.header.keys.started = now;
    }

    /// One tick, however many were missed: no burst makes up for a pause or an outage.
    pub(super) fn turn_tick(&mut self, now: Timestamp) {
        let every = millis(self.header.policy.every);
        let tick = &mut self.header.tick;
        let passed = now.0.saturating_sub(tick.start.0) / every;
        if passed > 0 {
            tick.start = Timestamp(tick.start.0 + passed * every);
            tick.admitted = 0;
            tick.extra = 0;
        }
    }

    /// Ends passes and missed turns that ran out; says whether that was all of them.
    fn sweep(&mut self, now: Timestamp) -> bool {
        for _ in 0..self.bounds.look_max {
            if let Some(ordinal) = self.passes.due(now) {
                self.expire(ordinal);
            } else if let Some(ordinal) = self.aside.due(now) {
                self.miss(ordinal);
            } else {
                return true;
            }
        }
        self.passes.due(now).is_none() && self.aside.due(now).is_none()
    }

    /// Lost places may be put back for as long as any is missing, also once admission has stopped waiting for them.
    fn end_lost_range(&mut self, now: Timestamp) {
        if self.header.lost.is_some_and(|lost| now >= lost.until) && self.missing() == 0 {
            self.header.lost = None;
            self.visible = true;
        }
    }

    /// How many places in line the room has forgotten.
    fn missing(&self) -> u64 {
        let (head, issued) = (self.header.head.0, self.header.issued.0);
        let gone = self.gone.count(head + 1..issued + 1);
        (issued - head).saturating_sub(gone + self.in_line)
    }

    /// The lost range while admission waits for its holders.
    pub(super) fn open_range(&self) -> Option<LostRange> {
        let now = self.header.clock.last();
        self.header.lost.filter(|lost| now < lost.until)
    }

    /// Takes the next ones while budget is left; says whether it stopped for having looked at enough.
    fn admit(&mut self, now: Timestamp) -> bool {
        let mut looks = self.bounds.look_max;
        loop {
            let budget = self.budget();
            let Some(next) = self.next().filter(|_| budget > 0) else {
                return false;
            };
            if looks == 0 {
                return true;
            }
            let present = self.present_from(next, looks.min(budget), now);
            // An absent one is looked at too.
            looks -= present.max(1);
            if present > 0 {
                let last = Ordinal(next.0 + present - 1);
                self.step_up(next..=last);
                self.enter(next..=last, now);
            } else {
                self.step_up(next..=next);
                self.step_aside(next, now);
            }
        }
    }

    /// How many are present of whose turn it is and those right behind, who follow. From the door they come one by one.
    fn present_from(&self, next: Ordinal, most: u64, now: Timestamp) -> u64 {
        let neighbours = if self.door.is_empty() {
            let lost = self.open_range();
            let most = lost.map_or(most, |lost| most.min(lost.after.0 - next.0 + 1));
            self.places.live_neighbours(next, most)
        } else {
            1
        };
        let present = (next.0..next.0 + neighbours)
            .take_while(|ordinal| self.is_present(Ordinal(*ordinal), now));
        present.count() as u64
    }

    /// How many may be admitted at this instant.
    fn budget(&self) -> u64 {
        if self.header.paused {
            return 0;
        }
        let (policy, tick) = (&self.header.policy, &self.header.tick);
        let by_tick = policy
            .batch
            .map(|n| n.saturating_add(tick.extra).saturating_sub(tick.admitted));
        let by_cap = policy
            .active_max
            .map(|n| n.saturating_sub(self.passes.len() as u64));
        by_tick.into_iter().chain(by_cap).min().unwrap_or(0)
    }

    /// Whose turn it is: the door comes first, then the line, up to where places may be lost.
    fn next(&self) -> Option<Ordinal> {
        if let Some(ordinal) = self.door.first() {
            return Some(ordinal);
        }
        let next = self.places.next_above(self.header.head)?;
        let beyond_lost = self.open_range().is_some_and(|lost| next > lost.after);
        (!beyond_lost).then_some(next)
    }

    fn step_up(&mut self, neighbours: RangeInclusive<Ordinal>) {
        let (first, last) = neighbours.into_inner();
        if !self.door.remove(first) {
            self.in_line -= last.0 - first.0 + 1;
            self.header.head = last;
        }
        for ordinal in first.0..=last.0 {
            self.changed(Ordinal(ordinal));
        }
    }

    fn is_present(&self, ordinal: Ordinal, now: Timestamp) -> bool {
        self.header.policy.presence_ttl.is_zero()
            || self.seen.iter().any(|round| round.contains(ordinal.0))
            || (now < self.header.imported_until && self.is_unclaimed(ordinal))
    }

    pub(super) fn enter(&mut self, neighbours: RangeInclusive<Ordinal>, now: Timestamp) {
        let pass = Pass {
            expires_at: now + self.header.policy.pass_ttl,
            since: now,
        };
        let count = neighbours.end().0 - neighbours.start().0 + 1;
        self.passes.add(neighbours, pass);
        self.header.tick.admitted += count;
        self.header.counters.admitted += count;
    }

    /// A missed turn is kept for `missed_turn_ttl`; with none, the place is gone at once.
    fn step_aside(&mut self, ordinal: Ordinal, now: Timestamp) {
        let until = now + self.header.policy.missed_turn_ttl;
        self.aside.set(ordinal, until);
        self.header.counters.stepped_over += 1;
        if until <= now {
            self.miss(ordinal);
        }
    }

    pub(super) fn expire(&mut self, ordinal: Ordinal) {
        self.header.counters.expired += 1;
        self.end_for(ordinal, Reason::Expired);
    }

    fn miss(&mut self, ordinal: Ordinal) {
        self.header.counters.missed += 1;
        self.end_for(ordinal, Reason::Missed);
    }

    /// With nobody in line, what lies above `head` is gone, or lost and past its time: `head` catches up.
    fn step_over_an_empty_line(&mut self) {
        let behind = self.header.head < self.header.issued;
        if behind && self.in_line == 0 && self.open_range().is_none() {
            self.header.head = self.header.issued;
            self.visible = true;
        }
    }
}
