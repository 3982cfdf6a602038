//! What the rule does not promise. Each excuse that is made is counted.

use std::{collections::BTreeMap, fmt};

/// Why something that looks like a broken promise is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Excuse {
    /// An ordinal that no replica had was given by, and known to, only nodes that were dead,
    /// stopped or cut off from before the first merge until the hold was over.
    OrdinalKnownToUnavailable,
    /// The same of an ending.
    EndingKnownToUnavailable,
    /// More were inside than the cap, for at most the lease after a failover.
    WithinLease,
    /// Store, nodes and records have forgotten the room at once.
    AllForgot,
    /// The node that had acknowledged a join died, or met the new master too late to send it again.
    NotRetoldInTime,
}

impl Excuse {
    fn sentence(self) -> &'static str {
        match self {
            Self::OrdinalKnownToUnavailable => "ordinal known only to unavailable nodes",
            Self::EndingKnownToUnavailable => "ending known only to unavailable nodes",
            Self::WithinLease => "within the lease after a failover",
            Self::AllForgot => "store, nodes and records forgot at once",
            Self::NotRetoldInTime => "no node was left to send a join again in time",
        }
    }
}

/// How often each excuse was made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Excuses(BTreeMap<Excuse, u64>);

impl Excuses {
    pub(super) fn make(&mut self, excuse: Excuse) {
        *self.0.entry(excuse).or_default() += 1;
    }

    /// Adds those of another history.
    pub fn add(&mut self, others: &Self) {
        for (excuse, count) in &others.0 {
            *self.0.entry(*excuse).or_default() += count;
        }
    }

    /// How often this one was made.
    pub fn of(&self, excuse: Excuse) -> u64 {
        self.0.get(&excuse).copied().unwrap_or_default()
    }
}

impl fmt::Display for Excuses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (excuse, count) in &self.0 {
            writeln!(f, "{count:>9}  excused: {}", excuse.sentence())?;
        }
        Ok(())
    }
}
