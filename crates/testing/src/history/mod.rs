//! What clients of real servers saw, written down, and the rules that judge it.
//!
//! A [`Recorder`] takes down one [`Record`] per operation and the [`Fault`]s that were brought about. [`check`]
//! holds the [`History`] against every [`Rule`]. The rules know no more than an outside observer can: they raise
//! no false alarm, whatever was going on between the answers.

mod evidence;
mod fault;
mod record;
mod recorder;
mod rules;
#[cfg(test)]
mod tests;
mod write;

use std::time::Duration;

use ropeline_core::Policy;

use evidence::Evidence;
pub use fault::{Fault, Kind, Outage, Target, Turn};
pub use record::{At, Counts, Op, Outcome, Record, State, Told};
pub use recorder::{Asked, Question, Recorder};
pub use rules::{Rule, Violation};

/// How far times of day, which are told in whole milliseconds, may differ from the clock of the record.
const SLACK: Duration = Duration::from_millis(20);

/// What is decided is shown only once it is durable; a slow disk takes no longer than this.
const LAG: Duration = Duration::from_secs(1);

/// All that happened in one room.
#[derive(Debug, Clone)]
pub struct History {
    /// What the room was told to do. It stays the same throughout.
    pub policy: Policy,
    /// What the times of day are worth that servers tell of the room.
    pub moments: Moments,
    /// In the order of asking.
    pub records: Vec<Record>,
    /// In the order of happening.
    pub faults: Vec<Fault>,
    /// Since when everybody with a place was asked for once more; `None` if nobody was.
    pub drained_at: Option<At>,
}

/// What the times of day are worth that servers tell of the room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moments {
    /// The room lives by the clock of the only server: they are exact to the millisecond. But what it decides
    /// shows only once it is durable.
    Exact,
    /// The room lives by the clock of a store, of which nodes hear with a delay that nobody knows. But what is
    /// decided shows at once.
    Rough,
}

/// Every broken rule, with the records that show it.
pub fn check(history: &History) -> Vec<Violation> {
    let evidence = Evidence::of(history);
    let rules = rules::ALL.iter();
    rules.flat_map(|(_, check)| check(&evidence)).collect()
}
