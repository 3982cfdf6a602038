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
    /// A holder inside has business that lasts so long from now: the pass does not run out before that, within
    /// `pass_max`. With zero such business is over, and the pass lasts no longer than from a use at this moment.
    /// Nothing happens to who is not inside.
    Keep {
        /// Whose pass.
        holder: Holder,
        /// How long.
        business: Duration,
    },
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
    /// The service behind the room has so much left to sell, or with `None` no longer tells. Joins and admissions go
    /// on as before, whatever it is: those who wait are shown it, and it is for an operator to close the room. To be
    /// told what is so already changes nothing.
    Stock(Option<u64>),
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
    /// Places that a node has acknowledged lately, sent after its merge in case the store has forgotten them, or whose
    /// tokens it has seen: each is put back unless it has ended. If a store that fell behind has given the ordinal to somebody else, whose place
    /// nobody has confirmed in this generation, that one gives way.
    Retell(Vec<Holder>),
    /// Places of another queue are taken over, in this order; those who were inside there come first.
    ///
    /// Two sets of ordinals and one time say all that is kept of it. `imported` holds the ordinals that an
    /// import gave, `claimed` those of them that a join has answered; both only grow and are dropped below
    /// `base`, like `gone` and `done`. An ordinal is *unclaimed* if it is in `imported` and not in `claimed`.
    /// `imported_until` is in the header, 0 at first.
    ///
    /// **The command**, after the fence, deletion, the clock and the rounds, as for every command:
    ///
    /// 1. While joins are held it answers [`Reply::Held`], as a join does.
    /// 2. `imported_until` becomes the later of itself and now + `grace`. A tick that is due begins, as at
    ///    `Admit`.
    /// 3. Each row, in order:
    ///    1. A pass of the visitor that ran out is ended, as at a join.
    ///    2. A visitor with a live place keeps it: [`Imported::Repeated`] if it is unclaimed (the same row
    ///       once more, which changes nothing), else [`Imported::Already`].
    ///    3. *Waiting*: if the line has `waiting_max` places, the room is settled and looked at once more, as
    ///       at a join; if it still has, [`Imported::Full`]. Otherwise the next ordinal, in line.
    ///    4. *Inside*: unless `head` equals `issued`, [`Imported::LineAhead`]: nobody in line is overtaken.
    ///       Otherwise `issued` and `head` both move to the next ordinal. With fewer passes in the room than
    ///       `active_max`, or with no such limit, it gets a pass as of now; the tick counts it as admitted
    ///       and as extra, so that it takes nothing of the batch. Passes that ran out and are not swept yet
    ///       count here. Else it is put at the door. Neither a pause nor the batch keeps it out: it was
    ///       inside already.
    ///    5. The ordinal joins `imported`. It is not marked as seen. [`Imported::Placed`].
    /// 4. Settling, as ever. The version grows if a row was placed or `imported_until` moved.
    ///
    /// Whether the room is open, closed, draining or paused does not matter to the command.
    ///
    /// **Elsewhere.** *Present*, when a turn comes, is also who is unclaimed before `imported_until`.
    /// *Join* of a visitor with a live place answers [`Joined::Repeated`] if its key is known, else, if the
    /// place is unclaimed, [`Joined::Claimed`]: its key is remembered, the ordinal joins `claimed` and is
    /// marked as by `Mark` (so one that is aside comes to the door); else [`Joined::Already`]. A claim is no
    /// new place: it is answered in a closed and in a full room. *Reset* changes none of the three. *Delete*
    /// empties both sets, and *Create* begins with `imported_until` 0. *Merge* leaves all three as the store
    /// has them, for no view carries them, unless it starts over with a later epoch: then they are emptied.
    /// A room made from a node's memory has none: its imported places are put back by their tokens.
    Import {
        /// Who, and where they were.
        rows: Vec<ImportRow>,
        /// How long those who have not joined yet count as present.
        grace: Duration,
    },
}

/// A place of another queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportRow {
    /// Whose.
    pub visitor: Visitor,
    /// Where it was.
    pub was: Was,
}

/// Where a visitor of another queue was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Was {
    /// Waiting.
    Waiting,
    /// Let in already.
    Inside,
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
    /// Nothing was changed: the room runs on another server than it knows of, or the caller knows another generation
    /// or a later term. Merge first.
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
    /// What became of each row.
    Imported(Vec<Imported>),
}

/// What became of one row of an import.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Imported {
    /// A new place.
    Placed(Ordinal),
    /// An import has given the visitor this place before, and no join has claimed it.
    Repeated(Ordinal),
    /// The visitor has this place of their own.
    Already(Ordinal),
    /// The line is as long as it may be.
    Full,
    /// Somebody is in line, whom one who was inside would overtake.
    LineAhead,
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
    /// The place that an import had given the visitor, answered to its first join.
    Claimed(Ordinal),
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
    AtDoor {
        /// How many others at the door go in first; 0 in a room that is saved.
        before: u64,
    },
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
