//! `ropeline import`: takes over the places of another queue, in their order.
//!
//! The rows go straight into the store, not through a server: an embedded store needs its server stopped.

mod args;
mod issued_at;
mod rejects;
mod row;
mod status;
mod table;
mod taking;
mod tokens;
mod trouble;

use std::{
    fs::File,
    io::{self, BufRead, BufReader},
    path::Path,
    sync::Arc,
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use ropeline_core::{Identity, Policy};
use ropeline_server::{
    Offline,
    config::{Overrides, Settings},
};
use ropeline_store::SystemClock;
use tokio::runtime::Runtime;

pub(crate) use self::{args::ImportArgs, trouble::ImportTrouble};
use self::{
    rejects::Rejects,
    table::Table,
    taking::{Import, Whose},
    tokens::Tokens,
};
use crate::{failure::Failure, logging, output::note, units::grouped};

/// Rows of one transition: few enough that a store which serves others meanwhile is not held up.
const BATCH: usize = 500;

pub(crate) fn run(args: &ImportArgs, overrides: &Overrides) -> Result<(), Failure> {
    let settings = Settings::load(overrides)?;
    // A store that is waited for says so in the log.
    logging::start(&settings.log);
    let rejects_at =
        |cause| file_trouble(args.rejected.as_deref().unwrap_or(Path::new("-")), cause);
    let mut rejects = Rejects::open(args.rejected.as_deref()).map_err(rejects_at)?;
    let mut input = open(&args.file).map_err(|cause| file_trouble(&args.file, cause))?;
    let table = Table::read(&mut *input, &mut rejects);
    let table = table.map_err(|cause| file_trouble(&args.file, cause))?;
    if table.rows.is_empty() && rejects.ended == 0 && !args.allow_empty {
        rejects.finish().map_err(rejects_at)?;
        note(&rejects.text());
        let (file, rejected) = (args.file.clone(), rejects.rejected);
        return Err(ImportTrouble::Empty { file, rejected }.into());
    }
    let said = if args.dry_run {
        warn_without_verified(args, &settings);
        planned(&table)
    } else {
        let runtime = Runtime::new().map_err(Failure::Runtime)?;
        runtime.block_on(import(args, &settings, &table, &mut rejects))?
    };
    rejects.finish().map_err(rejects_at)?;
    note(&format!("{}{said}{}\n", rejects.text(), left_out(&rejects)));
    Ok(())
}

fn open(file: &Path) -> io::Result<Box<dyn BufRead>> {
    if file == Path::new("-") {
        return Ok(Box::new(io::stdin().lock()));
    }
    Ok(Box::new(BufReader::with_capacity(
        1 << 20,
        File::open(file)?,
    )))
}

async fn import(
    args: &ImportArgs,
    settings: &Settings,
    table: &Table,
    rejects: &mut Rejects,
) -> Result<String, Failure> {
    let out = args.out.as_deref();
    let out_trouble = |cause| file_trouble(out.unwrap_or(Path::new("standard output")), cause);
    let clock = Arc::new(SystemClock::start());
    let offline = Offline::open(settings, clock).await;
    let offline = offline.map_err(ImportTrouble::Start)?;
    let room = offline.room(settings, &args.room).await;
    let view = room.map_err(|cause| ImportTrouble::Store { taken: 0, cause })?;
    let view = view.ok_or_else(|| ImportTrouble::NoRoom(args.room.clone()))?;
    check_whose(args, &view.header.policy)?;
    warn_of_buyers(args, settings);
    let tokens = Tokens::open(out).map_err(out_trouble)?;
    let mut import = Import::new(&offline, (&args.room, &view), args, tokens);
    let bar = bar(table.rows.len() as u64);
    for rows in table.rows.chunks(BATCH) {
        let answers = import.batch(rows).await?;
        import.note(rows, &answers, rejects).map_err(out_trouble)?;
        bar.inc(rows.len() as u64);
    }
    bar.finish_and_clear();
    let said = import.said();
    offline.close().await;
    Ok(said)
}

/// Says before an import what may be wrong with it. The room itself may have another identity than its section: that is
/// seen when it is imported.
fn warn_without_verified(args: &ImportArgs, settings: &Settings) {
    warn_of_buyers(args, settings);
    let section = settings.rooms.get(&args.room);
    if section.is_some_and(|section| check_whose(args, &section.policy).is_err()) {
        let room = &args.room;
        note(&format!(
            "warning: [rooms.{room}] has identity = \"jwt\", so the import will be refused without --verified, \
             unless the room was given another identity while running"
        ));
    }
}

/// Buyers of the box office are verified users, so they never meet the place of a stated user id.
fn warn_of_buyers(args: &ImportArgs, settings: &Settings) {
    let boxoffice = &settings.boxoffice;
    let sells_here = boxoffice.serves_with(&settings.store, settings.database.as_ref());
    let room = &args.room;
    if sells_here && boxoffice.room == *room && args.whose() == Whose::Stated {
        note(&format!(
            "warning: the box office sells behind the room {room}, and its buyers join as verified users: without \
             --verified they do not get these places. If the user ids of the file are those of the box office, use \
             --verified"
        ));
    }
}

/// Refuses rows that nobody could ever claim: a room of logins knows only verified users.
fn check_whose(args: &ImportArgs, policy: &Policy) -> Result<(), ImportTrouble> {
    if policy.identity == Identity::Jwt && args.whose() == Whose::Stated {
        return Err(ImportTrouble::NeedsVerified(args.room.clone()));
    }
    Ok(())
}

fn planned(table: &Table) -> String {
    let waiting = table.rows.len() - table.inside;
    format!(
        "{} rows would be taken over: {} inside and {} waiting. Nothing was changed.\n",
        grouped(table.rows.len()),
        grouped(table.inside),
        grouped(waiting),
    )
}

fn left_out(rejects: &Rejects) -> String {
    let (ended, rejected) = (grouped(rejects.ended), grouped(rejects.rejected));
    format!("{ended} skipped, for they had ended; {rejected} rejected.")
}

fn bar(rows: u64) -> ProgressBar {
    let target = ProgressDrawTarget::stderr();
    let style = ProgressStyle::with_template("{bar:50} {pos}/{len} rows, {elapsed}, {eta} left");
    ProgressBar::with_draw_target(Some(rows), target)
        .with_style(style.expect("a template that the tests have drawn"))
}

fn file_trouble(path: &Path, cause: io::Error) -> Failure {
    let path = path.to_owned();
    Failure::Import(ImportTrouble::File { path, cause })
}
