//! The command `ropeline`.

mod admin;
mod args;
mod audit;
mod boxoffice;
mod carry;
mod config;
mod failure;
mod health;
mod http;
mod import;
mod keys;
mod load;
mod logging;
mod open_files;
mod output;
mod plan;
mod room;
mod serve;
mod units;

use std::process::ExitCode;

use args::{Cli, Command};
use failure::Failure;
use mimalloc::MiMalloc;
use rustix::{fs::Mode, process::umask};

/// A request makes and frees dozens of small things on whichever thread is free, at which it is twice as fast
/// as the C library's; and it gives memory back when a crowd has gone.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    let cli = match Cli::from_command_line() {
        Ok(cli) => cli,
        Err(usage) => return output::usage(&usage),
    };
    match run(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => output::failure(&failure),
    }
}

fn run(cli: Cli) -> Result<(), Failure> {
    // Whatever a library creates in the data directory, such as the log of SQLite, is for the owner alone.
    umask(Mode::RWXG | Mode::RWXO);
    let typed = cli.settings.typed();
    let overrides = cli.settings.into_overrides();
    match cli.command.unwrap_or(Command::Serve) {
        Command::Serve => serve::run(&overrides, &typed),
        Command::Boxoffice(args) => boxoffice::run(&args, &overrides, &typed),
        Command::Config(command) => config::run(command, overrides),
        Command::Keys(command) => keys::run(&command, &overrides),
        Command::Plan(args) => plan::run(&args),
        Command::Load(command) => load::run(command, &overrides, &typed),
        Command::Import(args) => import::run(&args, &overrides),
        Command::Move(args) => carry::run(&args, &overrides),
        Command::Admin(args) => admin::run(&args, &overrides, &typed),
        Command::Audit(command) => audit::run(command, &overrides),
        Command::Room(args) => room::run(args, &overrides, &typed),
        Command::Health(args) => health::run(args, &overrides),
    }
}
