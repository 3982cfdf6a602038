//! `ropeline keys`: the keys that sign queue tokens.

use std::path::Path;

use clap::Subcommand;
use ropeline_server::{
    config::{Overrides, Settings},
    token::{KeyError, KeyFile},
};
use ropeline_store::{Clock, SystemClock};

use crate::{failure::Failure, output::print};

#[derive(Subcommand)]
pub(crate) enum KeysCommand {
    /// List the keys, the signing one first
    List,
    /// Add a key that signs from now on; tokens of the others stay valid
    Rotate,
    /// Remove a key; tokens that it signed are void from now on
    Retire {
        /// The key's id, as `list` shows it
        kid: String,
    },
}

/// A running server takes up a change within seconds.
pub(crate) fn run(command: &KeysCommand, overrides: &Overrides) -> Result<(), Failure> {
    let directory = Settings::load(overrides)?.data;
    let now = SystemClock::start().now();
    let answer = match command {
        KeysCommand::List => KeyFile::open(&directory).map(|keys| list(&keys)),
        KeysCommand::Rotate => change(&directory, |keys| {
            let kid = keys.rotate(now)?.to_owned();
            Ok(format!("{kid} signs from now on\n"))
        }),
        KeysCommand::Retire { kid } => change(&directory, |keys| {
            keys.retire(kid)?;
            Ok(format!("{kid} is retired: its tokens are void\n"))
        }),
    };
    print(&answer.map_err(|error| Failure::Server(Box::new(error)))?)
}

fn change(
    directory: &Path,
    change: impl FnOnce(&mut KeyFile) -> Result<String, KeyError>,
) -> Result<String, KeyError> {
    let mut keys = KeyFile::open(directory)?;
    let answer = change(&mut keys)?;
    keys.save(directory)?;
    Ok(answer)
}

fn list(keys: &KeyFile) -> String {
    let lines = keys.kids().enumerate().map(|(at, (kid, created))| {
        let role = if at == 0 { "signs" } else { "verifies" };
        format!("{kid}  {role:<8}  made {created}\n")
    });
    lines.collect()
}
