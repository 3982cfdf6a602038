//! Why a server did not start.

use std::{io, net::SocketAddr, path::PathBuf};

use ropeline_core::RoomId;
use ropeline_store::{OpenError, StoreError};
use thiserror::Error;

use crate::{login::LoginKeyError, shared::SharedKeyError, token::KeyError};

/// Why the server did not start, worded for the operator.
#[derive(Debug, Error)]
pub enum StartError {
    /// The data directory cannot be used.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The store will not serve us.
    #[error("cannot use the store {url}: {cause}")]
    Store {
        /// Its address, without the password.
        url: String,
        /// Why not.
        cause: String,
    },
    /// The signing keys cannot be used.
    #[error(transparent)]
    Keys(#[from] KeyError),
    /// The nodes did not come to the same signing keys.
    #[error(transparent)]
    SharedKeys(#[from] SharedKeyError),
    /// The admin key of all nodes could not be asked for.
    #[error("cannot learn the admin key that the nodes take: {0}")]
    SharedAdminKey(StoreError),
    /// What the nodes share in its place is not one.
    #[error(
        "what the nodes share as admin-key is not the digest of one: delete that key in Redis, or give each node its key \
         with --admin-key-file"
    )]
    NoSharedAdminKey,
    /// The keys that verify logins cannot be used.
    #[error("cannot verify logins: {0}")]
    Logins(#[from] LoginKeyError),
    /// The admin key cannot be read or written.
    #[error("cannot use the admin key in {path}: {cause}")]
    AdminKey {
        /// The file.
        path: PathBuf,
        /// Why not.
        cause: io::Error,
    },
    /// The audit log cannot be written.
    #[error("cannot write the audit log {path}: {cause}")]
    Audit {
        /// The file.
        path: PathBuf,
        /// Why not.
        cause: io::Error,
    },
    /// The store refused a room.
    #[error("cannot set up the room {room}: {cause}")]
    Room {
        /// Which room.
        room: RoomId,
        /// Why not.
        cause: StoreError,
    },
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {cause}. Choose another with --listen ADDR")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why not.
        cause: io::Error,
    },
}
