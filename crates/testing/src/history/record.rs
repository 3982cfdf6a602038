//! What is written down of each operation.

use std::time::Duration;

use serde::{Serialize, Serializer};

/// A moment of the run, since its start, by one clock that never runs back.
pub type At = Duration;

/// One question of a client, and what came of it.
#[derive(Debug, Clone, Serialize)]
pub struct Record {
    /// Its place in the history.
    pub id: usize,
    /// Who asked.
    pub client: usize,
    /// Who was asked.
    pub node: usize,
    /// What was asked.
    pub op: Op,
    /// The user on whose behalf.
    pub user: String,
    /// The ordinal of the token that was shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holds: Option<u64>,
    /// The version that was returned in `X-Queue-Version`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub returned: Option<u64>,
    /// Just before it was sent.
    #[serde(serialize_with = "seconds")]
    pub t0: At,
    /// Just after the answer was read, or when nobody waited for it any longer.
    #[serde(serialize_with = "seconds")]
    pub t1: At,
    /// Whether it was done.
    pub outcome: Outcome,
    /// The HTTP status.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The `code` of a problem.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// What the answer said of the place.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub told: Option<Told>,
    /// What the answer said of the room.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counts: Option<Counts>,
}

/// What is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Op {
    /// A place, or the one that there is.
    Join,
    /// Where the place is.
    Poll,
    /// Whether the pass is good.
    Gate,
    /// To give up the place or the pass.
    Leave,
    /// How many are where.
    Audit,
    /// Where the place of a user is, asked by an operator: nobody is brought back or marked as present by it.
    Find,
}

/// Whether an operation was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// It was, and this is the answer.
    Ok,
    /// It was refused, and nothing was changed.
    Fail,
    /// Nobody knows; it may even be done later.
    Unknown,
}

/// Where a place is said to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// In line or at the door.
    Waiting,
    /// Has a pass.
    Inside,
    /// Left, revoked, or missed for good.
    Gone,
    /// Was inside and is no longer.
    Done,
}

impl State {
    /// Whether the place has ended.
    pub fn is_end(self) -> bool {
        matches!(self, Self::Gone | Self::Done)
    }
}

/// What an answer said of a place. What it did not say is `None`.
#[derive(Debug, Clone, Serialize)]
pub struct Told {
    /// Where it is.
    pub state: State,
    /// Its number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ordinal: Option<u64>,
    /// The room's epoch, as the token has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epoch: Option<u64>,
    /// One more than those ahead, and 0 inside.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<u64>,
    /// Whether it goes in before the line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before_line: Option<bool>,
    /// Of the room.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
    /// Up to when the answer is known to hold.
    #[serde(
        serialize_with = "maybe_seconds",
        skip_serializing_if = "Option::is_none"
    )]
    pub as_of: Option<At>,
    /// When it was admitted.
    #[serde(
        serialize_with = "maybe_seconds",
        skip_serializing_if = "Option::is_none"
    )]
    pub admitted_at: Option<At>,
    /// When the pass runs out unless it is used.
    #[serde(
        serialize_with = "maybe_seconds",
        skip_serializing_if = "Option::is_none"
    )]
    pub expires_at: Option<At>,
}

impl Told {
    /// Where a place is, and nothing else.
    pub fn only(state: State) -> Self {
        Self {
            state,
            ordinal: None,
            epoch: None,
            position: None,
            before_line: None,
            version: None,
            as_of: None,
            admitted_at: None,
            expires_at: None,
        }
    }
}

/// How many are where, and how many have ended, as an operator is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// The highest ordinal given.
    pub issued: u64,
    /// In line.
    pub waiting: u64,
    /// At the door.
    pub door: u64,
    /// Missed their turn and may come back.
    pub aside: u64,
    /// Inside.
    pub active: u64,
    /// Ended in any way since the room began.
    pub ended: u64,
    /// Let in since the room began.
    pub admitted: u64,
    /// Were inside and are no longer.
    pub departed: u64,
}

impl Counts {
    /// All that have not ended.
    pub fn live(&self) -> u64 {
        self.waiting + self.door + self.aside + self.active
    }
}

impl Record {
    /// What an answer said of the place, if there was one.
    pub fn state(&self) -> Option<State> {
        self.told.as_ref().map(|told| told.state)
    }

    /// The place that the answer names, else that of the token.
    pub fn ordinal(&self) -> Option<u64> {
        let told = self.told.as_ref().and_then(|told| told.ordinal);
        told.or(self.holds)
    }

    /// The earliest moment at which the answer may have been true: a node may show an older picture, and says
    /// how old. `None` where it does not say.
    pub fn since(&self) -> Option<At> {
        match (self.op, self.state()?) {
            // What was written, and what was looked up, was so when it was asked.
            (Op::Join | Op::Leave | Op::Find, _) | (_, State::Inside) => Some(self.t0),
            (Op::Gate, _) => None,
            (Op::Poll | Op::Audit, _) => {
                let as_of = self.told.as_ref().and_then(|told| told.as_of);
                Some(as_of.map_or(self.t0, |as_of| as_of.min(self.t0)))
            }
        }
    }
}

pub(super) fn seconds<S: Serializer>(at: &At, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(at.as_secs_f64())
}

#[expect(
    clippy::ref_option,
    reason = "serde hands over a reference to the field"
)]
fn maybe_seconds<S: Serializer>(at: &Option<At>, serializer: S) -> Result<S::Ok, S::Error> {
    match at {
        Some(at) => seconds(at, serializer),
        None => serializer.serialize_none(),
    }
}
