//! When somebody was let in.

use super::{Evidence, Story};
use crate::history::{
    SLACK,
    record::{At, Record},
};

/// Somebody was let in between two moments.
#[derive(Debug, Clone, Copy)]
pub(in crate::history) struct Admission<'h> {
    pub(in crate::history) earliest: At,
    pub(in crate::history) latest: At,
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
        let bounds = Admission {
            earliest: waited.max().unwrap_or(story.asked).max(story.asked),
            latest: seen.t1,
            seen,
        };
        let said = story.inside().find_map(|record| {
            let told = record.told.as_ref()?;
            Some((told.admitted_at?, record))
        });
        match said {
            // While the store is away, room time may stand still, and its moments shift.
            Some((said, record)) if self.store_was_up(said.saturating_sub(SLACK), record.t1) => {
                Some(bounds.narrowed(said))
            }
            _ => Some(bounds),
        }
    }
}

impl Admission<'_> {
    /// With what the server says, as far as that agrees with what was seen.
    fn narrowed(self, said: At) -> Self {
        let (earliest, latest) = (said.saturating_sub(SLACK), said + SLACK);
        if latest < self.earliest || self.latest < earliest {
            return self;
        }
        Self {
            earliest: self.earliest.max(earliest),
            latest: self.latest.min(latest),
            ..self
        }
    }

    /// Whether it certainly lies between two moments.
    pub(in crate::history) fn is_within(&self, from: At, to: At) -> bool {
        from <= self.earliest && self.latest <= to
    }
}
