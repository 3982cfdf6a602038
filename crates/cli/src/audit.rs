//! `ropeline audit`: whether the audit log is as it was written.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use ropeline_server::{
    audit::{self, Before},
    config::{Overrides, Settings},
};

use crate::{failure::Failure, output::print};

#[derive(Subcommand)]
pub(crate) enum AuditCommand {
    /// Check that no line was changed, removed, added or moved since it was written
    ///
    /// Each line has the hash of the one before it. Lines that are removed from the end are found only by comparing the hash
    /// that is printed with one that was kept elsewhere.
    Verify(VerifyArgs),
}

#[derive(Args)]
pub(crate) struct VerifyArgs {
    /// The files of the log, oldest first [default: audit.log in the data directory]
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Older files of the log were deleted on purpose
    #[arg(long)]
    older_files_gone: bool,
}

pub(crate) fn run(command: AuditCommand, overrides: &Overrides) -> Result<(), Failure> {
    let AuditCommand::Verify(VerifyArgs {
        mut files,
        older_files_gone,
    }) = command;
    if files.is_empty() {
        files.push(audit::path(&Settings::load(overrides)?.data));
    }
    let before = if older_files_gone {
        Before::OlderFiles
    } else {
        Before::Nothing
    };
    match audit::verify(&files, before) {
        Ok(verified) => print(&verified.to_string()),
        Err(unverified) => Err(Failure::Server(Box::new(unverified))),
    }
}
