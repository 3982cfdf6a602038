//! What is promised, and what was seen instead.

use std::fmt;

/// What must hold, whatever goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "each has its sentence")]
pub enum Promise {
    NoLostPlace,
    OrdinalUnique,
    FirstComeFirstServed,
    EndedStaysEnded,
    OrderKept,
    CapHeld,
    TokenVoidOnlyByDelete,
    AheadNeverRises,
    Retold,
    NodesAgree,
    NoLivelock,
    JoinsGoOn,
    AdmissionGoesOn,
    EverybodyIsBack,
}

impl Promise {
    /// All of them.
    pub const ALL: [Self; 14] = [
        Self::NoLostPlace,
        Self::OrdinalUnique,
        Self::FirstComeFirstServed,
        Self::EndedStaysEnded,
        Self::OrderKept,
        Self::CapHeld,
        Self::TokenVoidOnlyByDelete,
        Self::AheadNeverRises,
        Self::Retold,
        Self::NodesAgree,
        Self::NoLivelock,
        Self::JoinsGoOn,
        Self::AdmissionGoesOn,
        Self::EverybodyIsBack,
    ];

    /// The promise in words.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::NoLostPlace => {
                "an acknowledged place ends only by its holder, by a pass that ran out, or with the room"
            }
            Self::OrdinalUnique => "no ordinal is acknowledged to two visitors",
            Self::FirstComeFirstServed => {
                "a visitor whose join was acknowledged before another one asked is ahead of that one"
            }
            Self::EndedStaysEnded => "a place that has ended never comes back",
            Self::OrderKept => {
                "nobody is let in before a place further ahead, even a lost one within its grace"
            }
            Self::CapHeld => "never more are inside than the cap",
            Self::TokenVoidOnlyByDelete => "only deleting the room makes its tokens void",
            Self::AheadNeverRises => {
                "`ahead` never rises for a client that returns what it was shown"
            }
            Self::Retold => {
                "a join that a running node has acknowledged is sent to the store again, even if its visitor never polls"
            }
            Self::NodesAgree => "once faults stop, all nodes and the store know the same",
            Self::NoLivelock => "once faults stop, the nodes stop merging",
            Self::JoinsGoOn => "once faults stop, every node takes joins",
            Self::AdmissionGoesOn => "once faults stop, those in line are let in",
            Self::EverybodyIsBack => "once faults stop, everybody who asks has their place",
        }
    }
}

/// A promise that was broken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Which.
    pub promise: Promise,
    /// How.
    pub seen: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { promise, seen } = self;
        write!(f, "{promise:?} ({}): {seen}", promise.sentence())
    }
}
