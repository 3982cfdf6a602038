//! `ropeline keys`: the keys that sign queue tokens.

use clap::Subcommand;
use ropeline_server::{
    config::{Overrides, Settings, StoreChoice},
    token::KeyFile,
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

/// A running server takes up a change within seconds, and so do the others that share its store.
pub(crate) fn run(command: &KeysCommand, overrides: &Overrides) -> Result<(), Failure> {
    let settings = Settings::load(overrides)?;
    let directory = &settings.data;
    let now = SystemClock::start().now();
    let answer = match command {
        KeysCommand::List => KeyFile::open(directory).map(|keys| list(&keys)),
        KeysCommand::Rotate => KeyFile::change(directory, |keys| {
            let kid = keys.rotate(now)?;
            Ok(format!("{kid} signs {}\n", from_when(&settings.store)))
        }),
        KeysCommand::Retire { kid } => KeyFile::change(directory, |keys| {
            keys.retire(kid)?;
            Ok(format!("{kid} is retired: its tokens are void\n"))
        }),
    };
    print(&answer.map_err(|error| Failure::Server(Box::new(error)))?)
}

fn from_when(store: &StoreChoice) -> &'static str {
    match store {
        StoreChoice::Embedded => "from now on",
        StoreChoice::Redis(_) => "as soon as every node has it, in about ten seconds",
    }
}

fn list(keys: &KeyFile) -> String {
    let lines = keys.kids().enumerate().map(|(at, (kid, created))| {
        let role = if at == 0 { "signs" } else { "verifies" };
        format!("{kid}  {role:<8}  made {created}\n")
    });
    lines.collect()
}
