//! What can be said about an import.

use std::{path::PathBuf, time::Duration};

use clap::Args;
use ropeline_core::RoomId;

use super::taking::Whose;
use crate::units;

#[derive(Args)]
pub(crate) struct ImportArgs {
    /// File of rows, one JSON object on each line; `-` reads standard input
    #[arg(value_name = "FILE")]
    pub(super) file: PathBuf,

    /// Room that takes them over
    #[arg(long, value_name = "ROOM", default_value = "main", value_parser = units::room)]
    pub(super) room: RoomId,

    /// The user ids are those of logins, or of users whom a service vouches for; otherwise each belongs to
    /// the first join that states it
    #[arg(long)]
    pub(super) verified: bool,

    /// Time in which nobody who was taken over counts as absent
    #[arg(long, value_name = "SPAN", default_value = "30m", value_parser = units::span)]
    pub(super) grace: Duration,

    /// Judge the rows and change nothing; the server may be running
    #[arg(long)]
    pub(super) dry_run: bool,

    /// Succeed although the file has no rows, which is most often an export that failed
    #[arg(long)]
    pub(super) allow_empty: bool,

    /// New file for the tokens, readable by its owner alone [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub(super) out: Option<PathBuf>,

    /// File for every row that was not taken over, with its line and the reason
    #[arg(long, value_name = "FILE")]
    pub(super) rejected: Option<PathBuf>,
}

impl ImportArgs {
    /// Whose the user ids of the rows are.
    pub(super) fn whose(&self) -> Whose {
        if self.verified {
            Whose::Verified
        } else {
            Whose::Stated
        }
    }
}
