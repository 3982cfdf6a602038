//! Why an import did not come to its end.

use std::{fmt, io, path::PathBuf};

use ropeline_core::RoomId;
use ropeline_server::StartError;
use ropeline_store::{OpenError, StoreError};

use crate::units::grouped;

#[derive(Debug)]
pub(crate) enum ImportTrouble {
    /// A file cannot be read or written.
    File { path: PathBuf, cause: io::Error },
    /// The file has no rows.
    Empty { file: PathBuf, rejected: u64 },
    /// The store or the keys cannot be opened.
    Start(StartError),
    /// The room is neither in the store nor in the settings.
    NoRoom(RoomId),
    /// The room takes only verified users, and the rows are not said to be theirs.
    NeedsVerified(RoomId),
    /// The store did not take a batch.
    Store { taken: u64, cause: StoreError },
}

impl fmt::Display for ImportTrouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { path, cause } => write!(f, "{}: {cause}", path.display()),
            Self::Empty { file, rejected } => write!(
                f,
                "{} has no rows{}. Did the export fail? Nothing was changed. If it is right, add --allow-empty.",
                file.display(),
                if *rejected > 0 {
                    " that can be taken over"
                } else {
                    ""
                }
            ),
            Self::Start(error @ StartError::Open(OpenError::InUse { .. })) => write!(
                f,
                "{error}\nAn import into the embedded store needs its server stopped. `--dry-run` does not."
            ),
            Self::Start(error) => write!(f, "{error}"),
            Self::NoRoom(room) => write!(
                f,
                "there is no room {room}, and the settings have no section [rooms.{room}] to make it from"
            ),
            Self::NeedsVerified(room) => write!(
                f,
                "the room {room} has identity = \"jwt\", so only users with a login could claim these places.\n\
                 If the user ids of the file are those of the logins, add --verified. Nothing was changed."
            ),
            Self::Store { cause, .. } if !may_pass(cause) => write!(f, "{cause}"),
            Self::Store { taken, cause } => write!(
                f,
                "{cause}\n{} rows were taken over before. Run the same command again: they keep their places, \
                 and the rest comes behind them.",
                grouped(taken)
            ),
        }
    }
}

/// Whether the same may work a little later.
fn may_pass(cause: &StoreError) -> bool {
    matches!(cause, StoreError::Unavailable(_) | StoreError::Overloaded)
}
