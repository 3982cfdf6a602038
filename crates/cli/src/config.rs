//! `ropeline config`: judges and shows settings.

use std::path::{Path, PathBuf};

use clap::Subcommand;
use ropeline_core::Identity;
use ropeline_server::config::{FILE_NAME, Overrides, SHIPPED, Settings, summary};

use crate::{failure::Failure, output::print};

#[derive(Subcommand)]
pub(crate) enum ConfigCommand {
    /// Say what is wrong with a settings file, all at once
    Check {
        /// The file [default: the one that `serve` would read]
        file: Option<PathBuf>,
    },
    /// Show the settings that hold in the end, as TOML; secrets are left out
    Show,
    /// Print every setting with its explanation and default
    Default,
}

pub(crate) fn run(command: ConfigCommand, overrides: Overrides) -> Result<(), Failure> {
    match command {
        ConfigCommand::Check { file } => check(file, overrides),
        ConfigCommand::Show => print(&Settings::load(&overrides)?.to_toml()),
        ConfigCommand::Default => print(SHIPPED),
    }
}

fn check(file: Option<PathBuf>, overrides: Overrides) -> Result<(), Failure> {
    let config = file.or(overrides.config);
    let judged = judged(config.as_deref());
    let settings = Settings::load(&Overrides {
        config,
        ..overrides
    })?;
    print(&format!(
        "{judged}: OK\n{}\n{}",
        rooms(&settings),
        warnings(&settings)
    ))
}

/// What the verdict is about.
fn judged(config: Option<&Path>) -> String {
    match config {
        Some(file) if !file.as_os_str().is_empty() => file.display().to_string(),
        _ if Path::new(FILE_NAME).exists() => FILE_NAME.into(),
        _ => format!("built-in settings (there is no {FILE_NAME} here)"),
    }
}

fn rooms(settings: &Settings) -> String {
    let ids = settings.rooms.keys();
    let width = ids.map(|id| id.as_str().len()).max().unwrap_or_default();
    let rooms = settings.rooms.iter();
    let lines: Vec<_> = rooms
        .map(|(id, room)| format!("  {:width$}  {}", id.as_str(), summary(&room.policy)))
        .collect();
    lines.join("\n")
}

/// What holds and is still a risk.
fn warnings(settings: &Settings) -> String {
    if !settings.is_public(settings.listen) {
        return String::new();
    }
    let rooms = settings.rooms.iter();
    let open = rooms.filter(|(_, room)| room.policy.identity == Identity::Open);
    let advice = settings.advice_for_open_room();
    let lines: Vec<_> = open
        .map(|(id, _)| format!("warning: rooms.{id}: {advice}\n"))
        .collect();
    lines.concat()
}
