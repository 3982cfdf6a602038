//! Why a move did not come to its end.

use std::fmt;

use ropeline_core::RoomId;
use ropeline_server::SharedKeyError;
use ropeline_store::{CarryError, OpenError, StoreError};

#[derive(Debug)]
pub(crate) enum MoveTrouble {
    /// A data directory cannot be opened.
    Open(OpenError),
    /// A Redis cannot be used.
    Redis { url: String, cause: String },
    /// Both names mean the same store.
    OneStore(String),
    /// There is nothing to be moved.
    NoRooms(String),
    /// The signing keys could not be carried.
    Keys(SharedKeyError),
    /// The room could not be carried.
    Carry(CarryError),
    /// What was asked of a store failed.
    Store(StoreError),
    /// Somebody must say so first.
    Unconfirmed(String),
    /// A room that is not frozen cannot be thawed.
    NotFrozen(RoomId),
}

impl fmt::Display for MoveTrouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open(error @ OpenError::InUse { .. }) => write!(
                f,
                "{error}\nA move from or to an embedded store needs its server stopped."
            ),
            Self::Open(error) => write!(f, "{error}"),
            Self::Redis { url, cause } => write!(f, "cannot use the store {url}: {cause}"),
            Self::OneStore(store) => write!(f, "--from and --to are both {store}"),
            Self::NoRooms(store) => write!(f, "there is no room in {store}"),
            Self::Keys(error) => write!(f, "{error}"),
            Self::Carry(error @ CarryError::Occupied { .. }) => write!(
                f,
                "{error}\nIf nobody has ever joined that one, as after a first start, add --replace-empty."
            ),
            Self::Carry(error) => write!(f, "{error}"),
            Self::Store(error) => write!(f, "{error}"),
            Self::Unconfirmed(what) => f.write_str(what),
            Self::NotFrozen(room) => write!(f, "the room {room} is not frozen: it goes on already"),
        }
    }
}

impl From<CarryError> for MoveTrouble {
    fn from(error: CarryError) -> Self {
        Self::Carry(error)
    }
}

impl From<StoreError> for MoveTrouble {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}
