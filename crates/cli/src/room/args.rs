//! What can be said about rooms on the command line.

use std::{str::FromStr, time::Duration};

use clap::{Args, Subcommand, value_parser};
use ropeline_core::{RoomId, UserId};

use crate::{
    http::BaseUrl,
    units::{room, span},
};

#[derive(Args)]
pub(crate) struct RoomArgs {
    #[command(flatten)]
    pub(super) server: ServerArgs,
    #[command(subcommand)]
    pub(super) command: RoomCommand,
}

#[derive(Args)]
pub(crate) struct ServerArgs {
    /// The server [default: the address that the settings listen on]
    #[arg(
        long,
        value_name = "URL",
        env = "ROPELINE_URL",
        global = true,
        default_value = "",
        hide_default_value = true
    )]
    pub(super) url: ServerChoice,

    /// Print the server's JSON as it is
    #[arg(long, global = true)]
    pub(super) json: bool,
}

/// A server that was named, or not: compose files leave a variable empty.
#[derive(Debug, Clone)]
pub(super) struct ServerChoice(pub(super) Option<BaseUrl>);

impl FromStr for ServerChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Ok(Self(None));
        }
        text.parse().map(Some).map(Self)
    }
}

#[derive(Subcommand)]
pub(super) enum RoomCommand {
    /// Show every room in one line
    List,
    /// Show a room: figures, policy, rates, waits, and how good the estimates were
    Show(Named),
    /// Make a room
    Create(CreateArgs),
    /// Change settings of a room at once and over a restart
    Set(SetArgs),
    /// Delete a room: everybody in it is out
    Delete(ConfirmedArgs),
    /// Let nobody in; the line stays and grows
    Pause(Named),
    /// Let people in again
    Resume(Named),
    /// Take joins again
    Open(Named),
    /// Take no joins; the line goes on
    Close(Named),
    /// Take no joins, and be closed once empty
    Drain(Named),
    /// Put everybody out, in line and inside
    Reset(ConfirmedArgs),
    /// Let more in with this tick, never above the cap
    Admit(AdmitArgs),
    /// Say where a visitor is
    Find(VisitorArgs),
    /// Put a visitor out
    Revoke(VisitorArgs),
    /// Watch a room live; elsewhere than on a terminal, a line each second
    Watch(WatchArgs),
}

#[derive(Args)]
pub(super) struct Named {
    /// The room
    #[arg(value_name = "ROOM", value_parser = room)]
    pub(super) room: RoomId,
}

#[derive(Args)]
pub(super) struct CreateArgs {
    #[command(flatten)]
    pub(super) named: Named,

    /// Proven figures to begin with: seed-000, seed-001, seed-002 or seed-004
    #[arg(long)]
    pub(super) preset: Option<String>,

    /// Settings as in ropeline.toml, such as batch=100 every=10s [default: as shipped]
    #[arg(value_name = "KEY=VALUE")]
    pub(super) settings: Vec<String>,
}

#[derive(Args)]
pub(super) struct SetArgs {
    #[command(flatten)]
    pub(super) named: Named,

    /// Settings as in ropeline.toml, such as batch=100 every=10s; none takes a limit away: batch=none
    #[arg(value_name = "KEY=VALUE", required = true)]
    pub(super) settings: Vec<String>,
}

#[derive(Args)]
pub(super) struct ConfirmedArgs {
    #[command(flatten)]
    pub(super) named: Named,

    /// Do it without being asked
    #[arg(long)]
    pub(super) yes: bool,
}

#[derive(Args)]
pub(super) struct AdmitArgs {
    #[command(flatten)]
    pub(super) named: Named,

    /// How many more
    #[arg(value_name = "N", value_parser = value_parser!(u64).range(1..))]
    pub(super) count: u64,
}

#[derive(Args)]
pub(super) struct VisitorArgs {
    #[command(flatten)]
    pub(super) named: Named,

    /// The user id, or the gate's name of an anonymous visitor, a:…
    #[arg(value_name = "USER", value_parser = user)]
    pub(super) user: UserId,

    /// Only the visitor whom a login or a service vouches for
    #[arg(long, conflicts_with = "stated")]
    pub(super) verified: bool,

    /// Only the visitor who merely stated the user id
    #[arg(long)]
    pub(super) stated: bool,
}

#[derive(Args)]
pub(super) struct WatchArgs {
    /// The room
    #[arg(value_name = "ROOM", value_parser = room, default_value = "main")]
    pub(super) room: RoomId,

    /// Print one line and end
    #[arg(long)]
    pub(super) once: bool,

    /// How often to look
    #[arg(long, value_name = "SPAN", value_parser = pace, default_value = "1s")]
    pub(super) every: Duration,
}

fn user(text: &str) -> Result<UserId, String> {
    UserId::parse(text).map_err(|error| error.to_string())
}

/// A server takes 600 requests of operators a minute, and a look is two.
fn pace(text: &str) -> Result<Duration, String> {
    let every = span(text)?;
    if (Duration::from_millis(500)..=Duration::from_secs(3_600)).contains(&every) {
        Ok(every)
    } else {
        Err("must be from 500ms to 1h".into())
    }
}
