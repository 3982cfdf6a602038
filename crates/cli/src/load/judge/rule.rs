//! What must hold, as far as it can be seen from outside.

use std::{collections::BTreeMap, fmt};

use serde::Serialize;

/// Wrong answers that are told in full; of the others only the number is.
const TOLD_MAX: usize = 20;

/// A promise of the server, named so that a script can look for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum Rule {
    /// Every key is there, and they fit together.
    ViewFits,
    /// `position` is `ahead` + 1, and 0 inside.
    PositionFits,
    /// `ahead` never rises for who returns the version.
    AheadNeverRises,
    /// `ahead` is no more than what lies between the ordinal and those who were seen inside.
    AheadFits,
    /// An answer is at least as new as the version that was returned.
    VersionNeverFalls,
    /// An ordinal never changes.
    OrdinalStays,
    /// No two visitors have the same ordinal.
    OrdinalUnique,
    /// Who was answered before another one asked has the lower ordinal.
    JoinedInOrder,
    /// Nobody waits in line behind somebody who came later and is inside.
    AdmittedInOrder,
    /// No more are inside than the cap.
    CapHolds,
    /// The gate lets nobody in who waits.
    GateHolds,
    /// The gate lets everybody in who has a pass.
    GateOpens,
    /// Whoever left, finished or ran out of time is refused.
    EndedStaysEnded,
    /// Nobody who keeps asking loses a place or a pass.
    PlaceStays,
    /// No two buyers have paid for the same seat.
    SeatSoldOnce,
    /// A seat costs its price, and just that is missing from the points afterwards.
    PointsFit,
    /// Every answer is one that the documents name.
    AnswerKnown,
    /// Every question is answered in the end.
    Answered,
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = serde_json::to_value(self).unwrap_or_default();
        f.write_str(name.as_str().unwrap_or_default())
    }
}

/// The wrong answers so far.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct Wrong {
    /// How often each rule was broken.
    pub(crate) counts: BTreeMap<Rule, u64>,
    /// The first of them, in words.
    pub(crate) first: Vec<String>,
}

impl Wrong {
    pub(crate) fn add(&mut self, rule: Rule, who: usize, what: &str) {
        *self.counts.entry(rule).or_default() += 1;
        if self.first.len() < TOLD_MAX {
            self.first.push(format!("{rule}: visitor {who}: {what}"));
        }
    }

    pub(crate) fn total(&self) -> u64 {
        self.counts.values().sum()
    }
}
