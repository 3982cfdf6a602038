//! What must hold, one family to a file.

mod admissions;
mod cap;
mod counts;
mod idle;
mod order;
mod places;
mod position;
mod ticks;

use std::fmt;

use super::{evidence::Evidence, record::Record};

/// What must hold of every history.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rule {
    /// No acknowledged place is lost.
    W1,
    /// A user has one live place.
    W2,
    /// No ordinal is given to two.
    W3,
    /// Who was answered before another one asked is ahead.
    W4,
    /// Nobody who is there is overtaken.
    W5,
    /// A position never rises for who returns the version.
    W6,
    /// A position is what it can be, from who is certainly and who is possibly ahead.
    W7,
    /// Nobody appears or vanishes: when nothing moves, the counts add up.
    W8,
    /// Never more inside than the cap.
    A1,
    /// Never more within a stretch of time than its ticks allow.
    A2,
    /// Nobody is admitted twice or from nowhere.
    A3,
    /// No tick is spent twice.
    A4,
    /// No burst makes up for an outage.
    A5,
    /// No slot stays free while somebody waits and nothing is wrong.
    A6,
    /// What has ended never comes back.
    T2,
}

/// A rule that was broken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Which.
    pub rule: Rule,
    /// In words.
    pub what: String,
    /// The records that show it.
    pub records: Vec<usize>,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.rule, self.what)
    }
}

impl Rule {
    fn broken<'a>(
        self,
        what: impl Into<String>,
        records: impl IntoIterator<Item = &'a Record>,
    ) -> Violation {
        Violation {
            rule: self,
            what: what.into(),
            records: records.into_iter().map(|record| record.id).collect(),
        }
    }
}

/// Holds a history against a rule.
type Check = fn(&Evidence<'_>) -> Vec<Violation>;

/// Every rule and who checks it.
pub(super) const ALL: [(Rule, Check); 15] = [
    (Rule::W1, places::none_lost),
    (Rule::W2, places::one_each),
    (Rule::W3, places::ordinals_unique),
    (Rule::W4, order::joined_in_order),
    (Rule::W5, order::admitted_in_order),
    (Rule::W6, position::never_rises),
    (Rule::W7, position::within_bounds),
    (Rule::W8, counts::add_up),
    (Rule::A1, cap::holds),
    (Rule::A2, ticks::batch_holds),
    (Rule::A3, admissions::once),
    (Rule::A4, ticks::none_spent_twice),
    (Rule::A5, ticks::no_burst),
    (Rule::A6, idle::no_idle_slot),
    (Rule::T2, places::ended_stays_ended),
];
