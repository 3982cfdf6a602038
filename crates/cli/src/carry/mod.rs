//! `ropeline move`: carries rooms from one store to another, with everybody in them.

mod args;
mod stores;
mod thaw;
mod trouble;

use std::{
    io::{self, IsTerminal, Write},
    sync::Arc,
    time::Duration,
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use ropeline_core::RoomId;
use ropeline_server::config::{Overrides, Settings};
use ropeline_store::{Clock, Inventory, Over, Stage, SystemClock, carry};
use tokio::runtime::Runtime;

use self::stores::{Opened, StoreName};
pub(crate) use self::{args::MoveArgs, trouble::MoveTrouble};
use crate::{
    failure::Failure,
    output::{note, print},
    units::{grouped, spoken},
};

/// In the order of [`Stage`].
const STAGES: [(Stage, &str); 5] = [
    (Stage::Freezing, "freezing"),
    (Stage::Reading, "reading"),
    (Stage::Writing, "writing"),
    (Stage::Checking, "checking"),
    (Stage::Switching, "switching over"),
];

pub(crate) fn run(args: &MoveArgs, overrides: &Overrides) -> Result<(), Failure> {
    let settings = Settings::load(overrides)?;
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::start());
    let runtime = Runtime::new().map_err(Failure::Runtime)?;
    let done = runtime.block_on(async {
        match &args.to {
            None => thaw::thaw(args, &settings, &clock).await,
            Some(to) => move_rooms(args, to, &settings, &clock).await,
        }
    });
    print(&done?)
}

async fn move_rooms(
    args: &MoveArgs,
    to: &StoreName,
    settings: &Settings,
    clock: &Arc<dyn Clock>,
) -> Result<String, MoveTrouble> {
    let from = Opened::open(&args.from, settings, clock).await?;
    if args.from == *to {
        return Err(MoveTrouble::OneStore(from.to_string()));
    }
    let rooms = rooms(args, &from)?;
    for room in &rooms {
        // Nothing is made in the other store for a room that is not there.
        from.store().frozen(room).await?;
    }
    let to = Opened::open(to, settings, clock).await?;
    for warning in to.warnings() {
        note(&format!("{to}: {warning}"));
    }
    confirm(args, &rooms, &from, &to)?;
    let keys = from.keys().carry_to(&to.keys(), clock.now()).await;
    let keys = keys.map_err(MoveTrouble::Keys)?;
    let mut said = String::new();
    for room in &rooms {
        said += &move_room(args, room, &from, &to, &**clock).await?;
    }
    from.store().close().await;
    to.store().close().await;
    Ok(said + &key_note(keys, &to))
}

fn key_note(keys: usize, to: &Opened) -> String {
    let keys = match keys {
        1 => "key that signed their tokens is".to_owned(),
        count => format!("{count} keys that signed their tokens are"),
    };
    format!("The {keys} known in {to}: they go on working.\n")
}

fn rooms(args: &MoveArgs, from: &Opened) -> Result<Vec<RoomId>, MoveTrouble> {
    if !args.all {
        return Ok(vec![args.room.clone()]);
    }
    let rooms = from.store().rooms();
    if rooms.is_empty() {
        return Err(MoveTrouble::NoRooms(from.to_string()));
    }
    Ok(rooms)
}

/// Goes on if the operator said yes beforehand, or says it now.
fn confirm(
    args: &MoveArgs,
    rooms: &[RoomId],
    from: &Opened,
    to: &Opened,
) -> Result<(), MoveTrouble> {
    if args.yes {
        return Ok(());
    }
    let names: Vec<_> = rooms.iter().map(RoomId::as_str).collect();
    let question = format!(
        "{} goes from {from} to {to}, and from then on nothing changes it in {from}",
        names.join(", ")
    );
    ask(&question)
}

fn ask(question: &str) -> Result<(), MoveTrouble> {
    let unconfirmed = |what: &str| MoveTrouble::Unconfirmed(format!("{question}{what}"));
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return Err(unconfirmed(": add --yes to do it without being asked"));
    }
    let mut line = String::new();
    let asked = write!(io::stderr(), "{question}.\nType yes to go on: ");
    let answered = asked.and_then(|()| io::stdin().read_line(&mut line));
    match answered {
        Ok(_) if line.trim() == "yes" => Ok(()),
        _ => Err(unconfirmed(": nothing was done")),
    }
}

async fn move_room(
    args: &MoveArgs,
    room: &RoomId,
    from: &Opened,
    to: &Opened,
    clock: &dyn Clock,
) -> Result<String, MoveTrouble> {
    let bar = bar(room);
    let shown = bar.clone();
    let stage = move |stage| {
        let at = STAGES.iter().position(|(known, _)| *known == stage);
        let at = at.expect("every stage is listed");
        shown.set_message(STAGES[at].1);
        shown.set_position(at as u64);
        shown.tick();
    };
    let over = if args.replace_empty {
        Over::Empty
    } else {
        Over::Nothing
    };
    let (from_name, to_name) = (from.to_string(), to.to_string());
    let (began, from) = (clock.now(), from.named(&from_name));
    let carried = carry(room, from, to.named(&to_name), over, stage).await;
    bar.finish_and_clear();
    let took = clock.now().since(began);
    Ok(summary(room, &carried?, &to_name, took))
}

fn summary(room: &RoomId, carried: &Inventory, to: &str, took: Duration) -> String {
    let Inventory {
        issued,
        in_line,
        inside,
        at_door,
        aside,
        gone,
        done,
        imported,
        claimed,
        keys,
        digest,
        ..
    } = *carried;
    let [issued, in_line, inside, at_door, aside] =
        [issued, in_line, inside, at_door, aside].map(grouped);
    let ended = grouped(gone + done);
    let unclaimed = grouped(imported - claimed);
    let keys = grouped(keys);
    format!(
        "{room} is in {to}, as it left (digest {digest:016x}), in less than {}:\n  \
         {issued} places given: {inside} inside, {at_door} at the door, {in_line} in line, {aside} aside, \
         {ended} ended\n  {unclaimed} imported and not claimed yet, {keys} idempotency keys\n",
        spoken(Duration::from_secs(took.as_secs() + 1))
    )
}

fn bar(room: &RoomId) -> ProgressBar {
    let target = ProgressDrawTarget::stderr();
    let style = ProgressStyle::with_template("{prefix} {bar:30} {msg}, {elapsed}");
    ProgressBar::with_draw_target(Some(STAGES.len() as u64), target)
        .with_style(style.expect("a template that the tests have drawn"))
        .with_prefix(room.to_string())
}
