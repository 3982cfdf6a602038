//! `ropeline room`: an operator's view of the rooms of a running server, and hand on them.

mod args;
mod confirm;
mod desk;
mod set;
mod show;
mod table;
mod trouble;
mod views;
mod visitors;
mod watch;
mod words;

use reqwest::Method;
use ropeline_core::RoomId;
use ropeline_server::config::Overrides;
use tokio::runtime::Runtime;

use self::{
    args::{ConfirmedArgs, RoomCommand},
    confirm::confirm,
    views::Room,
    words::{Word, people},
};
pub(crate) use self::{
    args::{RoomArgs, ServerArgs},
    desk::Desk,
    trouble::Trouble,
    views::read,
};
use crate::{args::TypedFlags, failure::Failure, http::Answer, output::print};

/// In which form the operator wants the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Text,
    Json,
}

pub(crate) fn run(
    args: RoomArgs,
    overrides: &Overrides,
    typed: &TypedFlags,
) -> Result<(), Failure> {
    let form = Form::of(&args.server);
    let desk = Desk::new(&args.server, overrides, typed)?;
    let runtime = Runtime::new().map_err(Failure::Runtime)?;
    runtime.block_on(carry_out(args.command, &desk, form))
}

async fn carry_out(command: RoomCommand, desk: &Desk, form: Form) -> Result<(), Failure> {
    let tell = async |room: &RoomId, word: Word| {
        let answer = word.tell(desk, room).await?;
        let effect = word.effect(&answer)?;
        form.print(&answer, &effect)
    };
    match command {
        RoomCommand::List => list(desk, form).await,
        RoomCommand::Show(args) => show(desk, &args.room, form).await,
        RoomCommand::Create(args) => {
            let (answer, text) = set::create(desk, &args).await?;
            form.print(&answer, &text)
        }
        RoomCommand::Set(args) => {
            let (answer, text) = set::change(desk, &args).await?;
            form.print(&answer, &text)
        }
        RoomCommand::Delete(args) => delete(desk, &args, form).await,
        RoomCommand::Pause(args) => tell(&args.room, Word::Pause).await,
        RoomCommand::Resume(args) => tell(&args.room, Word::Resume).await,
        RoomCommand::Open(args) => tell(&args.room, Word::Open).await,
        RoomCommand::Close(args) => tell(&args.room, Word::Close).await,
        RoomCommand::Drain(args) => tell(&args.room, Word::Drain).await,
        RoomCommand::Reset(args) => reset(desk, &args, form).await,
        RoomCommand::Admit(args) => tell(&args.named.room, Word::Admit(args.count)).await,
        RoomCommand::Find(args) => {
            let (answer, text) = visitors::find(desk, &args).await?;
            form.print(&answer, &text)
        }
        RoomCommand::Revoke(args) => {
            let (answer, text) = visitors::revoke(desk, &args).await?;
            form.print(&answer, &text)
        }
        RoomCommand::Watch(args) => watch::run(desk, args, form).await,
    }
}

impl Form {
    pub(crate) fn of(server: &ServerArgs) -> Self {
        if server.json { Self::Json } else { Self::Text }
    }

    pub(crate) fn print(self, answer: &Answer, text: &str) -> Result<(), Failure> {
        match self {
            Self::Text => print(&format!("{text}\n")),
            // An answer without a body is said by the exit code.
            Self::Json if answer.body.is_empty() => Ok(()),
            Self::Json => print(&format!("{}\n", body(answer))),
        }
    }
}

/// The answer's text as it came.
fn body(answer: &Answer) -> String {
    String::from_utf8_lossy(&answer.body).into_owned()
}

async fn list(desk: &Desk, form: Form) -> Result<(), Failure> {
    match form {
        Form::Text => print(&table::list(desk).await?),
        Form::Json => form.print(&desk.list().await?, ""),
    }
}

async fn show(desk: &Desk, room: &RoomId, form: Form) -> Result<(), Failure> {
    let (view, stats) = (desk.room(room).await?, desk.stats(room).await?);
    match form {
        Form::Text => print(&show::text(&read(&view)?, &read(&stats)?)),
        Form::Json => {
            let (view, stats) = (body(&view), body(&stats));
            print(&format!("{{\"room\":{view},\"stats\":{stats}}}\n"))
        }
    }
}

async fn reset(desk: &Desk, args: &ConfirmedArgs, form: Form) -> Result<(), Failure> {
    let id = &args.named.room;
    let before: Room = read(&desk.room(id).await?)?;
    confirm(args, &before, "reset")?;
    let answer = Word::Reset.tell(desk, id).await?;
    let effect = Word::Reset.effect(&answer)?;
    form.print(&answer, &format!("{effect} (before: {})", people(&before)))
}

async fn delete(desk: &Desk, args: &ConfirmedArgs, form: Form) -> Result<(), Failure> {
    let id = &args.named.room;
    let before: Room = read(&desk.room(id).await?)?;
    confirm(args, &before, "delete")?;
    let path = format!("/{id}");
    let answer = desk.send(Method::DELETE, &path, None).await?;
    let text = format!("{id} is deleted (before: {})", people(&before));
    form.print(&answer, &text)
}
