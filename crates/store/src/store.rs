//! The contract of a store.

use std::{fmt::Debug, sync::Arc, time::Duration};

use async_trait::async_trait;
use ropeline_core::{
    Command, Departure, Holder, ImportRow, Imported, Joined, Joiner, Ordinal, Policy, RoomId,
    Saved, Standing, Timestamp, View, Visitor,
};
use thiserror::Error;

use crate::{Freeze, Over};

/// Why a store did not do what it was asked.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum StoreError {
    /// There is no such room.
    #[error("there is no room {0}")]
    NoSuchRoom(RoomId),
    /// The store cannot write at the moment. What was asked is not done, or not known to be.
    #[error("the store is unavailable: {0}")]
    Unavailable(Arc<str>),
    /// More is waiting to be written than the store takes in. What was asked is not done.
    #[error("the store has more to do than it can take in")]
    Overloaded,
    /// The room takes no change. What was asked is not done.
    #[error("the room {room} {why}")]
    Frozen {
        /// Which room.
        room: RoomId,
        /// Why not.
        why: Freeze,
    },
}

/// What an operator can do to a room.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "each is the command of the same name in core")]
pub enum Operation {
    Admit(u64),
    Pause,
    Resume,
    Open,
    Close,
    Drain,
    Reset,
    Delete,
    SetPolicy {
        policy: Arc<Policy>,
        digest: Option<String>,
    },
}

impl Operation {
    /// The command of the same name.
    pub(crate) fn command(self) -> Command {
        match self {
            Self::Admit(count) => Command::Admit(count),
            Self::Pause => Command::Pause,
            Self::Resume => Command::Resume,
            Self::Open => Command::Open,
            Self::Close => Command::Close,
            Self::Drain => Command::Drain,
            Self::Reset => Command::Reset,
            Self::Delete => Command::Delete,
            Self::SetPolicy { policy, digest } => Command::SetPolicy { policy, digest },
        }
    }
}

/// A place that somebody looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Found {
    /// Which place.
    pub ordinal: Ordinal,
    /// Where it stands.
    pub standing: Standing,
}

/// A room's view, and how fresh it is.
#[derive(Debug, Clone)]
pub struct Seen {
    /// The picture of the line.
    pub view: Arc<View>,
    /// Up to when the picture is known to hold, by this node's clock.
    pub fresh_at: Timestamp,
}

/// How a store is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Health {
    /// It takes joins.
    Up,
    /// It does not, for this reason, and tries to by itself.
    Down(Arc<str>),
}

/// Where rooms are kept.
///
/// Every method is one transition, atomic and in one order with all others of the room, whoever asks.
/// What an answer says is durable: it holds after a crash. Only renewals and presence may be up to a second
/// behind after a crash. A method that fails with [`StoreError::Unavailable`] may have happened; repeating
/// it does no harm.
#[async_trait]
pub trait Store: Debug + Send + Sync {
    /// The rooms there are, in the order of their names.
    fn rooms(&self) -> Vec<RoomId>;

    /// The picture of a room's line, with no call that waits. It shows nothing that is not durable.
    fn view(&self, room: &RoomId) -> Option<Seen>;

    /// When this node last heard from the store that a place may be inside: that it is at or below `head`, and has
    /// neither ended nor been set aside. By the node's clock; `None` if it heard otherwise, or nothing.
    ///
    /// It waits for nothing and is for the time when the store is away: nobody new can be found inside by it.
    fn leased(&self, _room: &RoomId, _ordinal: Ordinal) -> Option<Timestamp> {
        None
    }

    /// Makes the picture of a room as new as the store is. A picture that is always so has nothing to do.
    async fn refresh(&self, _room: &RoomId) {}

    /// Whether joins are taken, in every room.
    fn health(&self) -> Health;

    /// Whether joins are taken in this room: rooms may be on several servers, of which some are away.
    fn health_of(&self, _room: &RoomId) -> Health {
        self.health()
    }

    /// How many requests were answered since the start although what they wrote is on one server alone, where more
    /// than one is asked for.
    fn unreplicated(&self) -> u64 {
        0
    }

    /// Makes a room if there is none of that name; says whether it did. One that was deleted begins again
    /// with another epoch, so that no token of before is good for it.
    async fn create(
        &self,
        room: &RoomId,
        policy: Arc<Policy>,
        digest: Option<String>,
    ) -> Result<bool, StoreError>;

    /// Gives a visitor a place behind everybody who was answered before, or says why not; and where the
    /// place stands, if there is one.
    async fn join(&self, room: &RoomId, joiner: Joiner) -> Result<(Joined, Standing), StoreError>;

    /// The gate's question: renews a live pass, and says where the holder stands.
    async fn renew(&self, room: &RoomId, holder: Holder) -> Result<Standing, StoreError>;

    /// A holder asks: says where they stand. One who missed a turn is at the door again, a lost place is
    /// put back. Renews nothing.
    async fn ask(&self, room: &RoomId, holder: Holder) -> Result<Standing, StoreError>;

    /// A holder inside has business that lasts so long from now, for which the pass is kept, or with zero has no more;
    /// says where the holder stands. See [`Command::Keep`](ropeline_core::Command::Keep).
    async fn keep(
        &self,
        room: &RoomId,
        holder: Holder,
        business: Duration,
    ) -> Result<Standing, StoreError>;

    /// The holder of a place in line is there. Taken in within a second, without an answer.
    fn mark(&self, room: &RoomId, ordinal: Ordinal);

    /// A holder gives up a place, or is done with a pass.
    async fn leave(&self, room: &RoomId, holder: Holder) -> Result<Departure, StoreError>;

    /// A holder's business inside is done.
    async fn finish(&self, room: &RoomId, holder: Holder) -> Result<Departure, StoreError>;

    /// The live place of a visitor, and where it stands.
    async fn find(&self, room: &RoomId, visitor: &Visitor) -> Result<Option<Found>, StoreError>;

    /// Puts a visitor out; says which place they had.
    async fn revoke(&self, room: &RoomId, visitor: Visitor) -> Result<Option<Ordinal>, StoreError>;

    /// Carries out an operator's word.
    async fn operate(&self, room: &RoomId, operation: Operation) -> Result<(), StoreError>;

    /// Changes a policy that somebody has read and worked on; `false` if it is another one by now.
    async fn change_policy(
        &self,
        room: &RoomId,
        from: Arc<Policy>,
        to: Arc<Policy>,
    ) -> Result<bool, StoreError>;

    /// So much is left to sell behind the room, for those who wait to see; `None` if that is no longer told. See
    /// [`Command::Stock`](ropeline_core::Command::Stock).
    async fn stock(&self, room: &RoomId, left: Option<u64>) -> Result<(), StoreError>;

    /// Takes in what a node knows of a room that the store may have forgotten.
    async fn merge(&self, room: &RoomId, memory: Arc<View>) -> Result<(), StoreError>;

    /// Takes over places of another queue, in this order, and says what became of each; those who were
    /// inside there come first. Rows that were taken over before are answered as they were.
    async fn import(
        &self,
        room: &RoomId,
        rows: Vec<ImportRow>,
        grace: Duration,
    ) -> Result<Vec<Imported>, StoreError>;

    /// From now on every change of the room is refused with [`StoreError::Frozen`], also after a restart, and its
    /// time stands still. A room that is frozen already has another reason then.
    async fn freeze(&self, room: &RoomId, why: Freeze) -> Result<(), StoreError>;

    /// Why a room is frozen, if it is.
    async fn frozen(&self, room: &RoomId) -> Result<Option<Freeze>, StoreError>;

    /// Lets a frozen room go on as if no time had passed; says whether it was frozen.
    async fn thaw(&self, room: &RoomId) -> Result<bool, StoreError>;

    /// The whole of a frozen room.
    async fn export(&self, room: &RoomId) -> Result<Saved, StoreError>;

    /// Takes in a room that comes from another store, frozen as [`Freeze::Arriving`]; `false` if there is one of
    /// that name whose place it must not take. If that fails, what has arrived so far stays frozen, and may be
    /// replaced or discarded.
    async fn adopt(
        &self,
        room: &RoomId,
        saved: Saved,
        from: &str,
        over: Over,
    ) -> Result<bool, StoreError>;

    /// Forgets an arrival that came to no end; says whether there was one.
    async fn discard(&self, room: &RoomId) -> Result<bool, StoreError>;

    /// Makes sure that what is due by now has happened. Stores do this by themselves; tests cannot wait.
    async fn settle(&self, room: &RoomId) -> Result<(), StoreError>;

    /// Writes what may still be unwritten and stops. Whatever is asked afterwards is refused.
    async fn close(&self);
}
