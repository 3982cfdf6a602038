//! What can be said on the command line.

use std::path::PathBuf;

use clap::{
    ArgMatches, Args, CommandFactory, Error, FromArgMatches, Parser, Subcommand,
    builder::{OsStringValueParser, TypedValueParser},
    error::ErrorKind,
    parser::ValueSource,
};
use ropeline_server::config::Overrides;

use crate::{
    admin::AdminArgs, audit::AuditCommand, boxoffice::BoxOfficeArgs, carry::MoveArgs,
    config::ConfigCommand, health::HealthArgs, import::ImportArgs, keys::KeysCommand,
    load::LoadCommand, plan::PlanArgs, room::RoomArgs,
};

/// Ropeline, a self-hosted virtual waiting room.
///
/// Without a command, `ropeline` serves. Flags beat environment variables, which beat the settings
/// file, which beats the built-in defaults.
#[derive(Parser)]
#[command(name = "ropeline", version)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) settings: SettingsArgs,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Run the waiting room, with the box office behind it (the default)
    Serve,
    /// Run the concert box office as a service of its own, behind the gate of a waiting room
    ///
    /// `ropeline serve` has it beside the rooms already. Here it asks a room elsewhere over HTTP, with the service key that
    /// both are given; its operators need an admin key of their own.
    Boxoffice(BoxOfficeArgs),
    /// Judge and show settings
    #[command(subcommand)]
    Config(ConfigCommand),
    /// List, rotate and retire the keys that sign queue tokens
    #[command(subcommand)]
    Keys(KeysCommand),
    /// Work out how many to let in from what your service bears
    Plan(PlanArgs),
    /// Watch and steer the rooms of a running server
    ///
    /// The server is the one of the settings, and the key the one in its data directory. For a server elsewhere give
    /// --url, and the key by the variable `ROPELINE_ADMIN_KEY`, by --admin-key-file, or with --data if its data directory is
    /// on this machine.
    Room(RoomArgs),
    /// List and end the sessions of the operators' page of a running server
    Admin(AdminArgs),
    /// Verify the audit log
    #[command(subcommand)]
    Audit(AuditCommand),
    /// Send visitors to a server, and judge what they are answered
    #[command(subcommand)]
    Load(LoadCommand),
    /// Take over the places of another queue, in the order of their rows
    ///
    /// Each line of the file is an object with userId, issuedAt and status, as one query exports it from a queue table;
    /// docs/IMPORT.md has the queries. For each row that is taken over a line {"userId", "token"} is printed. The rows go
    /// into the store itself: an embedded store needs its server stopped.
    Import(ImportArgs),
    /// Carry rooms to another store, with everybody in them and the tokens in their hands
    ///
    /// Rooms go between `embedded`, the store of the data directory, and a Redis, either way. A server of an embedded store
    /// has to be stopped; nodes on Redis may run. docs/MOVE.md goes through it.
    Move(MoveArgs),
    /// Ask a server whether it is ready; for scripts and container health checks
    Health(HealthArgs),
}

/// Settings that scripts give; accepted before and after every command.
#[derive(Args)]
#[command(next_help_heading = "Settings")]
pub(crate) struct SettingsArgs {
    /// Address and port to listen on [default: 127.0.0.1:8080]
    #[arg(long, value_name = "ADDR", env = "ROPELINE_LISTEN", global = true)]
    listen: Option<String>,

    /// Directory of everything that outlives a restart [default: ./data]
    #[arg(long, value_name = "DIR", env = "ROPELINE_DATA", global = true, value_parser = path())]
    data: Option<PathBuf>,

    /// Where the lines are kept: here, or on the Redis of an address [default: embedded]
    ///
    /// Other users of this machine can read the flag, and a password in it, in the list of
    /// processes; they cannot read the variable or the settings file.
    // An address may hold a password, so help does not repeat it.
    #[arg(
        long,
        value_name = "URL",
        env = "ROPELINE_STORE",
        global = true,
        hide_env_values = true
    )]
    store: Option<String>,

    /// Where the box office keeps its books: sqlite:FILE or postgres:// [default: a file in the data directory]
    ///
    /// Other users of this machine can read the flag, and a password in it, in the list of
    /// processes; they cannot read the variable or the settings file.
    #[arg(
        long,
        value_name = "URL",
        env = "ROPELINE_DATABASE",
        global = true,
        hide_env_values = true
    )]
    database: Option<String>,

    /// Settings file [default: ropeline.toml if there is one]
    #[arg(long, value_name = "FILE", env = "ROPELINE_CONFIG", global = true, value_parser = path())]
    config: Option<PathBuf>,

    /// Admin key [default: made on first start and kept in the data directory]
    ///
    /// Other users of this machine can read the flag in the list of processes; they cannot read
    /// the variable or a file.
    #[arg(
        long,
        value_name = "KEY",
        env = "ROPELINE_ADMIN_KEY",
        global = true,
        hide_env_values = true
    )]
    admin_key: Option<String>,

    /// File that holds the admin key and nothing else
    #[arg(long, value_name = "FILE", global = true, value_parser = path())]
    admin_key_file: Option<PathBuf>,

    /// Key of services behind the gate [default: none is believed]
    ///
    /// Other users of this machine can read the flag in the list of processes; they cannot read
    /// the variable or a file.
    #[arg(
        long,
        value_name = "KEY",
        env = "ROPELINE_SERVICE_KEY",
        global = true,
        hide_env_values = true
    )]
    service_key: Option<String>,

    /// File that holds the service key and nothing else
    #[arg(long, value_name = "FILE", global = true, value_parser = path())]
    service_key_file: Option<PathBuf>,

    #[arg(skip)]
    typed: TypedFlags,
}

/// Which settings were given as flags, where that makes a difference.
#[derive(Clone, Default)]
pub(crate) struct TypedFlags(Vec<&'static str>);

impl TypedFlags {
    /// Whether this flag was typed, with its dashes.
    pub(crate) fn have(&self, flag: &str) -> bool {
        self.0.contains(&flag)
    }
}

impl Cli {
    /// What was said by flag and environment, or why it cannot be understood.
    pub(crate) fn from_command_line() -> Result<Self, Error> {
        let matches = Self::command().try_get_matches()?;
        let mut cli = Self::from_arg_matches(&matches)?;
        cli.settings.choose_keys(&matches)?;
        cli.settings.note_typed(&matches);
        Ok(cli)
    }
}

impl SettingsArgs {
    pub(crate) fn typed(&self) -> TypedFlags {
        self.typed.clone()
    }

    pub(crate) fn into_overrides(self) -> Overrides {
        Overrides {
            config: self.config,
            listen: self.listen,
            data: self.data,
            store: self.store,
            database: self.database,
            admin_key: self.admin_key,
            admin_key_file: self.admin_key_file,
            service_key: self.service_key,
            service_key_file: self.service_key_file,
        }
    }

    fn note_typed(&mut self, matches: &ArgMatches) {
        let flags = [
            ("data", "--data"),
            ("store", "--store"),
            ("database", "--database"),
            ("admin_key", "--admin-key"),
            ("admin_key_file", "--admin-key-file"),
            ("service_key", "--service-key"),
        ];
        let is_typed = |id: &str| matches.value_source(id) == Some(ValueSource::CommandLine);
        let typed = flags.into_iter().filter(|(id, _)| is_typed(id));
        self.typed = TypedFlags(typed.map(|(_, flag)| flag).collect());
    }

    /// Lets a file named by flag beat a key from the environment; clap alone would call that a conflict.
    fn choose_keys(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        for (name, key, file) in [
            ("admin", &mut self.admin_key, &self.admin_key_file),
            ("service", &mut self.service_key, &self.service_key_file),
        ] {
            let file = file.as_deref();
            if file.is_none_or(|file| file.as_os_str().is_empty()) {
                continue;
            }
            if matches.value_source(&format!("{name}_key")) == Some(ValueSource::CommandLine) {
                let both = format!("give --{name}-key or --{name}-key-file, not both");
                return Err(Cli::command().error(ErrorKind::ArgumentConflict, both));
            }
            *key = None;
        }
        Ok(())
    }
}

/// A path that may be empty, as compose files leave a variable out; clap's own parser refuses that.
fn path() -> impl TypedValueParser<Value = PathBuf> {
    OsStringValueParser::new().map(PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }
}
