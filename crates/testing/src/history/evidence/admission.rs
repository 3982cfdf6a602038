//! When somebody was let in.

use super::{Evidence, Story};
use crate::history::{
    LAG, Moments, SLACK,
    record::{At, Record},
};

/// Somebody was let in, and shown to be, between two moments.
#[derive(Debug, Clone, Copy)]
pub(in crate::history) struct Admission<'h> {
    pub(in crate::history) earliest: At,
    pub(in crate::history) latest: At,
    /// When it was decided, as the room says: it is shown only once it is durable.
    pub(in crate::history) decided: Option<At>,
    /// The earliest moment at which it may have been decided, where it is not said.
    pub(super) decided_after: At,
    /// The first answer that said so.
    pub(in crate::history) seen: &'h Record,
}

impl<'h> Evidence<'h> {
    pub(super) fn admission_of(&self, story: &Story<'h>) -> Option<Admission<'h>> {
        let seen = story.inside().min_by_key(|record| record.t1)?;
        let waited = story
            .waiting()
            .filter(|(_, record)| record.t0 < seen.t1)
            .map(|(since, _)| since);
        let decided = story.inside().find_map(|record| self.decided(record));
        let decided = decided.filter(|at| *at <= seen.t1 + SLACK);
        let asked_or_decided = decided.map_or(story.asked, |at| at.saturating_sub(SLACK));
        let earliest = waited.chain([story.asked, asked_or_decided]).max();
        let earliest = earliest.unwrap_or_default();
        let hidden = match self.history.moments {
            Moments::Exact => LAG,
            Moments::Rough => At::ZERO,
        };
        Some(Admission {
            earliest,
            latest: seen.t1,
            decided,
            decided_after: earliest.saturating_sub(hidden).max(story.asked),
            seen,
        })
    }

    /// The moment of admission that an answer names, if it is worth something. While the store is away, room
    /// time may stand still, and its moments shift.
    fn decided(&self, record: &Record) -> Option<At> {
        if self.history.moments == Moments::Rough {
            return None;
        }
        let at = record.told.as_ref()?.admitted_at?;
        let from = at.saturating_sub(SLACK);
        self.store_was_up(from, record.t1).then_some(at)
    }
}

impl Admission<'_> {
    /// Between which moments it was decided.
    pub(in crate::history) fn decision(&self) -> (At, At) {
        match self.decided {
            Some(at) => {
                let from = at.saturating_sub(SLACK);
                (from.max(self.decided_after), self.latest.min(at + SLACK))
            }
            None => (self.decided_after, self.latest),
        }
    }
}
