//! `ropeline admin`: the sessions of the operators' page.

use clap::{Args, Subcommand};
use reqwest::Method;
use ropeline_server::config::Overrides;
use serde::Deserialize;
use tokio::runtime::Runtime;

use crate::{
    args::TypedFlags,
    failure::Failure,
    http::Answer,
    room::{Desk, Form, ServerArgs, Trouble, read},
};

const SESSIONS: &str = "/sessions";

#[derive(Args)]
pub(crate) struct AdminArgs {
    #[command(flatten)]
    server: ServerArgs,
    #[command(subcommand)]
    command: AdminCommand,
}

#[derive(Subcommand)]
enum AdminCommand {
    /// List and end the sessions of the page /admin
    #[command(subcommand)]
    Sessions(SessionsCommand),
}

#[derive(Subcommand)]
enum SessionsCommand {
    /// Show every open session in one line
    List,
    /// End a session, on all nodes: its browser has to log in again
    End(EndArgs),
}

#[derive(Args)]
#[group(required = true, multiple = false)]
struct EndArgs {
    /// The session's id as `list` shows it, or its first characters
    #[arg(value_name = "ID")]
    id: Option<String>,

    /// End every session
    #[arg(long)]
    all: bool,
}

#[derive(Deserialize)]
struct SessionList {
    sessions: Vec<Session>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Session {
    id: String,
    opened_at: String,
    last_used_at: String,
    expires_at: String,
    address: String,
}

#[derive(Deserialize)]
struct Ended {
    ended: usize,
}

pub(crate) fn run(
    args: &AdminArgs,
    overrides: &Overrides,
    typed: &TypedFlags,
) -> Result<(), Failure> {
    let form = Form::of(&args.server);
    let desk = Desk::new(&args.server, overrides, typed)?;
    let runtime = Runtime::new().map_err(Failure::Runtime)?;
    let AdminCommand::Sessions(command) = &args.command;
    runtime.block_on(async {
        let (answer, text) = match command {
            SessionsCommand::List => list(&desk).await?,
            SessionsCommand::End(EndArgs { id: Some(id), .. }) => end(&desk, id).await?,
            SessionsCommand::End(EndArgs { id: None, .. }) => end_all(&desk).await?,
        };
        form.print(&answer, &text)
    })
}

async fn list(desk: &Desk) -> Result<(Answer, String), Trouble> {
    let answer = desk.ask(Method::GET, SESSIONS).await?;
    let SessionList { sessions } = read(&answer)?;
    if sessions.is_empty() {
        return Ok((answer, "no session is open".to_owned()));
    }
    let line = |parts: [&str; 5]| {
        let [id, opened, used, expires, address] = parts;
        format!("{id:<22}  {opened:<24}  {used:<24}  {expires:<24}  {address}")
    };
    let head = line(["id", "opened", "last used", "ends", "from"]);
    let rows = sessions.iter().map(|session| {
        let Session {
            id,
            opened_at,
            last_used_at,
            expires_at,
            address,
        } = session;
        line([id, opened_at, last_used_at, expires_at, address])
    });
    let lines: Vec<_> = std::iter::once(head).chain(rows).collect();
    Ok((answer, lines.join("\n")))
}

async fn end(desk: &Desk, beginning: &str) -> Result<(Answer, String), Trouble> {
    let SessionList { sessions } = read(&desk.ask(Method::GET, SESSIONS).await?)?;
    let mut ids = sessions
        .iter()
        .map(|session| &session.id)
        .filter(|id| id.starts_with(beginning));
    let id = match (ids.next(), ids.next()) {
        (Some(id), None) => id,
        (None, _) => {
            let text = format!(
                "there is no open session {beginning}: `ropeline admin sessions list` shows all"
            );
            return Err(Trouble::Other(text));
        }
        (Some(_), Some(_)) => {
            let text =
                format!("more than one open session begins with {beginning}: give more of its id");
            return Err(Trouble::Other(text));
        }
    };
    let answer = desk
        .ask(Method::DELETE, &format!("{SESSIONS}/{id}"))
        .await?;
    Ok((answer, format!("session {id} is ended")))
}

async fn end_all(desk: &Desk) -> Result<(Answer, String), Trouble> {
    let answer = desk.ask(Method::DELETE, SESSIONS).await?;
    let Ended { ended } = read(&answer)?;
    let text = match ended {
        1 => "1 session is ended".to_owned(),
        ended => format!("{ended} sessions are ended"),
    };
    Ok((answer, text))
}
