//! What a room can be told, and what it answers.

use std::{sync::Arc, time::Duration};

use serde::{Deserialize, Serialize};

use crate::{JoinKey, Ordinal, Policy, Timestamp, View, Visitor};

/// One transition.
#[derive(Debug, Clone)]
pub enum Command {
    /// Visitors ask for a place, in this order.
    Join(Vec<Joiner>),
    /// Holders ask at the gate: a live pass is renewed; anybody else is treated as by `Restore`.
    Renew(Vec<Holder>),
    /// Holders are heard of who may not be where their token says: a place aside comes to the door, a
    /// lost one is put back.
    Restore(Vec<Holder>),
    /// The holders of these places are there.
    Mark(Vec<Ordinal>),
    /// A holder gives up a place, or is done with a pass.
    Leave(Holder),
    /// A holder's business inside is done.
    Finish(Holder),
    /// An operator puts a visitor out.
    Revoke(Visitor),
    /// Nothing but the settling that ends every transition.
    Settle,
    /// This tick's batch is larger by so many; the cap stays.
    Admit(u64),
    /// Nobody is admitted; joins wait.
    Pause,
    /// Ends a pause.
    Resume,
    /// Joins are taken.
    Open,
    /// No joins; the line goes on.
    Close,
    /// Close, and closed for good once empty.
    Drain,
    /// Everybody out; counting goes on.
    Reset,
    /// A new policy. The tick that runs and what was admitted in it stay; nobody inside is put out.
    SetPolicy {
        /// The policy, already validated.
        policy: Arc<Policy>,
        /// Digest of the configuration text it came from; `None` leaves the last one.
        digest: Option<String>,
    },
    /// A change that somebody worked out from the policy `from`; refused if it is another one by now.
    ChangePolicy {
        /// The policy that was changed.
        from: Arc<Policy>,
        /// What it was changed to, already validated.
        to: Arc<Policy>,
    },
    /// Everybody out, and no such room any more.
    Delete,
    /// A deleted room begins again, empty; one that is there stays as it is.
    Create {
        /// The policy, already validated.
        policy: Arc<Policy>,
        /// Digest of the configuration text it came from.
        digest: Option<String>,
    },
    /// What a node knows of the room, where the store may have forgotten.
    Merge(Arc<View>),
}

/// A visitor who asks for a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Joiner {
    /// Who.
    pub visitor: Visitor,
    /// The request's idempotency key, where the visitor's name does not already come from it.
    pub key: Option<JoinKey>,
}

/// A visitor and the place that their token names.
///
/// A command does nothing for a holder unless the room has that visitor at that ordinal, so that an ended
/// token never acts for the same visitor's new place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// Who.
    pub visitor: Visitor,
    /// Which place.
    pub ordinal: Ordinal,
}

/// What a transition did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// The answer to the command.
    pub reply: Reply,
    /// There is more to settle: call again at once.
    pub more: bool,
    /// The room's version after it.
    pub version: u64,
    /// The highest ordinal admitted or stepped over.
    pub head: Ordinal,
    /// The highest ordinal given.
    pub issued: Ordinal,
}

/// The answer to a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// Nothing was changed: the room runs on another server than it knows of. Merge first.
    Fenced,
    /// Nothing was changed: joins are held for this long while the nodes merge what they know.
    Held(Duration),
    /// What became of each joiner.
    Joined(Vec<Joined>),
    /// Where each holder stands after settling.
    Standing(Vec<(Holder, Standing)>),
    /// What a holder's departure did.
    Departed(Departure),
    /// The place that a revoked visitor held, if any.
    Revoked(Option<Ordinal>),
    /// Carried out.
    Done,
    /// Nothing was changed: the policy is another one by now.
    Stale,
    /// Whether the room was made.
    Created(bool),
    /// Nothing was changed: the room was deleted.
    NoRoom,
}

/// What became of one joiner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Joined {
    /// A new place.
    New(Ordinal),
    /// The visitor has this place already.
    Already(Ordinal),
    /// The same request was answered before with this place.
    Repeated(Ordinal),
    /// The key was used for another request.
    KeyReused,
    /// No joins are taken.
    Closed,
    /// The line is as long as it may be.
    Full,
}

/// What a departure did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Departure {
    /// A place was given up.
    Left,
    /// A pass ended.
    Finished,
    /// It had ended already, or never was; nothing changed.
    Nothing,
    /// Still waiting, so there is nothing to finish; nothing changed.
    NotInside,
}

/// Where a holder stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// The place is live.
    Live(Live),
    /// The place has ended.
    Ended(Ending),
    /// The place has not ended, but the room does not have it: a write was lost.
    Lost,
    /// The ordinal was never given, as far as this room knows.
    Unknown,
}

/// The four live states of a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Live {
    /// Waiting, above `head`.
    InLine,
    /// Served before everybody in line.
    AtDoor,
    /// Missed its turn; given up at this time.
    Aside(Timestamp),
    /// Has a pass.
    Inside(Pass),
}

/// The right to be inside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pass {
    /// When it runs out unless it is used.
    pub expires_at: Timestamp,
    /// When it was given.
    pub since: Timestamp,
}

/// The two ways in which a place ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// Left, revoked, missed for good, or put out by a reset.
    Gone,
    /// Was inside and is no longer.
    Done,
}
