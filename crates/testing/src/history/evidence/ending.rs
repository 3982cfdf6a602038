//! When a place may have ended, at the earliest.

use std::time::Duration;

use super::{Evidence, Story};
use crate::history::{
    SLACK,
    fault::Kind,
    record::{At, Op, Record},
};

impl Evidence<'_> {
    /// Whether the place may have been left, or missed for good, by a moment.
    pub(in crate::history) fn may_be_gone(&self, story: &Story<'_>, by: At) -> bool {
        let missed_turn_ttl = self.history.policy.missed_turn_ttl;
        let mut absences = story.present.gaps(story.acknowledged);
        left(story, by)
            || absences.any(|from| {
                from.saturating_add(missed_turn_ttl) <= by + SLACK
                    || from <= by && self.clock_jumped(from, by)
            })
    }

    /// Whether the place may have been inside and be no longer by a moment.
    pub(in crate::history) fn may_be_done(&self, story: &Story<'_>, by: At) -> bool {
        left(story, by)
            || self.pass_ends(story, by) <= by + SLACK
            || self.clock_jumped(story.asked, by)
    }

    /// Whether the store's clock may have jumped ahead between two moments.
    fn clock_jumped(&self, from: At, to: At) -> bool {
        let mut outages = self.outages.iter();
        outages.any(|outage| outage.kind == Kind::ClockAhead && outage.touches(from, to))
    }

    /// Whether the place may have ended in any way by a moment.
    pub(in crate::history) fn may_be_over(&self, story: &Story<'_>, by: At) -> bool {
        self.may_be_gone(story, by) || self.may_be_done(story, by)
    }

    /// The earliest moment at which the pass may have run out, from what was seen until `by`.
    fn pass_ends(&self, story: &Story<'_>, by: At) -> At {
        let waited = story.waiting().filter(|(_, record)| record.t0 < by);
        let waited = waited.map(|(since, _)| since).max();
        let let_in = waited.unwrap_or(story.asked).max(story.asked);
        let renewed = story
            .inside()
            .filter(|record| record.t0 < by && self.store_was_up(record.t0, by))
            .map(|record| self.pass_lasts(story, record));
        // A renewal may be forgotten in a crash, the pass itself is not.
        let given = let_in + self.history.policy.pass_ttl;
        renewed.max().unwrap_or_default().max(given)
    }

    /// Until when a pass that was seen lasts at least, if nothing goes wrong: the gate renews it, and a poll
    /// does not. What servers say of it is not needed.
    pub(in crate::history) fn pass_lasts(&self, story: &Story<'_>, seen: &Record) -> At {
        let policy = &self.history.policy;
        let given = story
            .admission
            .map_or(story.asked, |admission| admission.decided_after);
        let renewed = match seen.op {
            Op::Gate => seen.t0,
            _ => given,
        };
        let longest = match policy.pass_max {
            Duration::ZERO => At::MAX,
            longest => given + longest,
        };
        longest.min(renewed + policy.pass_ttl)
    }
}

/// Whether somebody has tried to give it up by a moment.
fn left(story: &Story<'_>, by: At) -> bool {
    story.leave().is_some_and(|leave| leave.t0 <= by)
}
