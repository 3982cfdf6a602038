//! What is kept of a room beside its places.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{Ordinal, Policy, Timestamp, time::RoomClock};

/// The server on which a room was last raised to another generation. It begins with the server's run id, and no two
/// raises have the same one, so that it also serves as the generation's nonce.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ServerId(pub Arc<str>);

/// What follows the run id.
const NONCE_MARK: char = '@';

impl ServerId {
    /// Whether the generation began on the server with that run id.
    pub fn is_of(&self, run_id: &Self) -> bool {
        let nonce = self.0.strip_prefix(&*run_id.0);
        nonce.is_some_and(|nonce| nonce.is_empty() || nonce.starts_with(NONCE_MARK))
    }

    /// The server alone, without what distinguishes its generations.
    #[must_use]
    pub fn run_id(&self) -> Self {
        let run_id = self.0.split_once(NONCE_MARK);
        run_id.map_or_else(|| self.clone(), |(run_id, _)| Self(run_id.into()))
    }

    /// Another generation on the server with that run id.
    pub(crate) fn raised(run_id: &Self, nonce: &str) -> Self {
        Self(format!("{}{NONCE_MARK}{nonce}", run_id.0).into())
    }
}

/// What a caller last knew of a room. The room compares it before it does anything, so that a server which missed
/// something, or a caller which did, is noticed in either direction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stamp {
    /// The server that the generation began on. No two generations have the same.
    pub server: ServerId,
    /// The term of the server as those say who watch over the servers; 0 where nobody does.
    pub term: u64,
}

/// Whether joins are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum RoomState {
    /// They are.
    Open,
    /// They are not; the line goes on.
    Closed,
    /// They are not, and the room closes for good once it is empty.
    Draining,
    /// There is no such room any more. What is kept of it makes sure that its tokens stay ended.
    Deleted,
}

/// The tick that runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tick {
    /// When it began.
    pub start: Timestamp,
    /// How many were admitted in it.
    pub admitted: u64,
    /// How many more than the batch an operator allowed in it.
    pub extra: u64,
}

/// A span of time that is counted rather than dated: it ends when a transition finds it over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Round {
    /// Counted from 0.
    pub number: u64,
    /// When it began.
    pub started: Timestamp,
}

/// Ordinals whose joins a store has forgotten, and whose holders are given time to ask again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LostRange {
    /// Admission does not pass this ordinal…
    pub after: Ordinal,
    /// …until this time.
    pub until: Timestamp,
}

/// Totals since the room began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Counters {
    /// Passes given.
    pub admitted: u64,
    /// Passes that ended in any way.
    pub departed: u64,
    /// Passes that ran out.
    pub expired: u64,
    /// Passes that their holders finished.
    pub finished: u64,
    /// Places given up.
    pub left: u64,
    /// Visitors put out by an operator.
    pub revoked: u64,
    /// Turns that were missed.
    pub stepped_over: u64,
    /// Missed turns that were given up.
    pub missed: u64,
    /// Lost places that were put back.
    pub restored: u64,
    /// How long the passes that ended had lasted, all together, in milliseconds.
    #[serde(default)]
    pub stayed_ms: u64,
}

/// A room but for its places: small, written as a whole with every change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// When the room was created; changes only if it is deleted and created again.
    pub epoch: Timestamp,
    /// The server that this generation began on.
    pub server: ServerId,
    /// How often the nodes have put the room together after its server had changed or forgotten something.
    #[serde(default)]
    pub generation: u64,
    /// The highest term in which the room was raised: the config epoch of its server with Sentinels or in a Cluster.
    #[serde(default)]
    pub term: u64,
    /// Tokens of epochs up to this one are void: the room was deleted then.
    #[serde(default)]
    pub deleted_until: Timestamp,
    /// Whether joins are taken.
    pub state: RoomState,
    /// Whether nobody is admitted for now.
    pub paused: bool,
    /// How people are let in.
    pub policy: Arc<Policy>,
    /// Digest of the configuration text that was last applied.
    pub digest: Option<String>,
    /// The highest ordinal given.
    pub issued: Ordinal,
    /// The highest ordinal admitted or stepped over.
    pub head: Ordinal,
    /// The highest ordinal that a reset put out.
    pub floor: Ordinal,
    /// Below this no ending is remembered.
    pub base: Ordinal,
    /// Grows with every change that a view shows.
    pub version: u64,
    /// The tick that runs.
    pub tick: Tick,
    /// The presence round that runs.
    pub presence: Round,
    /// The round of idempotency keys that runs.
    pub keys: Round,
    /// What the store has forgotten, while its holders may still ask.
    pub lost: Option<LostRange>,
    /// Joins are held until then, so that every node has merged before the next ordinal is given.
    pub joins_held_until: Timestamp,
    /// And nobody is admitted until then.
    #[serde(default)]
    pub admission_held_until: Timestamp,
    /// Imported places that nobody has claimed count as present until then.
    #[serde(default)]
    pub imported_until: Timestamp,
    /// How much the service behind the room has left to sell, if it tells; those who wait are shown it, and nothing
    /// else follows from it.
    #[serde(default)]
    pub stock: Option<u64>,
    /// The version in which the stock became what it is; 0 if it was never told.
    #[serde(default)]
    pub stock_version: u64,
    /// Totals.
    pub counters: Counters,
    /// What room time is.
    pub clock: RoomClock,
}

impl Header {
    /// What a caller that knows this header calls with.
    pub fn stamp(&self) -> Stamp {
        Stamp {
            server: self.server.clone(),
            term: self.term,
        }
    }

    /// Whether a token of that epoch is void because its room was deleted since.
    pub fn voids(&self, epoch: Timestamp) -> bool {
        epoch <= self.deleted_until
    }

    pub(crate) fn new(policy: Arc<Policy>, server: ServerId, clock: Timestamp) -> Self {
        let round = Round {
            number: 0,
            started: clock,
        };
        Self {
            epoch: clock,
            server,
            generation: 0,
            term: 0,
            deleted_until: Timestamp(0),
            state: RoomState::Open,
            paused: false,
            policy,
            digest: None,
            issued: Ordinal(0),
            head: Ordinal(0),
            floor: Ordinal(0),
            base: Ordinal(0),
            version: 0,
            tick: Tick {
                start: clock,
                admitted: 0,
                extra: 0,
            },
            presence: round,
            keys: round,
            lost: None,
            joins_held_until: Timestamp(0),
            admission_held_until: Timestamp(0),
            imported_until: Timestamp(0),
            stock: None,
            stock_version: 0,
            counters: Counters::default(),
            clock: RoomClock::starting_at(clock),
        }
    }
}
