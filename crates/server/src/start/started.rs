//! What an operator is told at the start.

use std::{fmt, net::SocketAddr, path::PathBuf, sync::Arc};

use ropeline_core::{RoomId, View};

use crate::config::StoreChoice;

/// What an operator wants to see at the start.
#[derive(Debug)]
pub struct Started {
    /// Where requests are answered.
    pub address: SocketAddr,
    /// The data directory.
    pub data: PathBuf,
    /// Where rooms are kept.
    pub store: StoreChoice,
    /// What the operator must hear of.
    pub warnings: Vec<String>,
    /// Which admin key is taken.
    pub admin_key: AdminKeyNote,
    /// The rooms of the settings as they are now, and what was done to them.
    pub rooms: Vec<StartedRoom>,
    /// Rooms that take user ids as stated although others than this machine can reach them.
    pub open_to_others: Vec<RoomId>,
    /// What to tell the operator of each of these.
    pub advice_for_open_room: String,
}

/// A room at the start.
#[derive(Debug)]
pub struct StartedRoom {
    /// Which one.
    pub room: RoomId,
    /// What was done to it.
    pub note: RoomNote,
    /// Its line as it was found.
    pub view: Arc<View>,
}

/// What the operator is told of the admin key.
#[derive(Debug)]
pub enum AdminKeyNote {
    /// The settings give it, from this file or by flag or variable.
    Given(Option<PathBuf>),
    /// An earlier start made it, and it is in this file.
    Kept(PathBuf),
    /// It was made just now.
    New(NewAdminKey),
    /// Another node has made it, and has it in its data directory.
    OfFirstNode,
}

/// Where the admin key is.
impl fmt::Display for AdminKeyNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::New(NewAdminKey { file, .. }) => write!(f, "in {}, made now", file.display()),
            Self::Kept(file) | Self::Given(Some(file)) => write!(f, "in {}", file.display()),
            Self::Given(None) => f.write_str("given by ROPELINE_ADMIN_KEY or --admin-key"),
            Self::OfFirstNode => {
                f.write_str("the one that the first node made, in its data directory")
            }
        }
    }
}

/// An admin key that was made just now.
#[derive(Debug)]
pub struct NewAdminKey {
    /// The key.
    pub key: String,
    /// Where it is kept.
    pub file: PathBuf,
}

/// What was done to a room at the start.
#[derive(Debug, PartialEq, Eq)]
pub enum RoomNote {
    /// It is new.
    Created,
    /// Its section is the one last applied; live changes stay.
    Kept,
    /// Its section had changed and was applied: setting by setting.
    Changed(Vec<String>),
}
