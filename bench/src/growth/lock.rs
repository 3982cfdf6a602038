//! How long a tick keeps a room of the embedded store to itself.

use std::time::{Duration, Instant};

use ropeline_core::{Bounds, Command, Joiner, Room, ServerId, Timestamp};
use ropeline_store::Turning;

use super::fill;
use crate::{
    Result, filled,
    goals::{Bound, Goal},
    http::admission::TICK,
    ids::Ids,
    progress,
    report::{self, Table},
    stats::Samples,
};

const WAITING: u64 = 1_000_000;
const ROUNDS: u64 = 25;
const NOW: Timestamp = Timestamp(1_800_000_000_000);
/// Joins that one transition takes.
const JOINS: u64 = 1_000;

/// In milliseconds.
pub(crate) fn measure() -> Result<Samples> {
    progress::phase("a tick under the lock of the room");
    let mut turning = Turning::of(full_room()?, NOW);
    turning.turn(Command::Settle, NOW);
    turning.forget_rows();
    let mut millis = Vec::new();
    for round in 1..=ROUNDS {
        let clock = NOW + Duration::from_millis(round);
        let started = Instant::now();
        turning.turn(Command::Admit(TICK), clock);
        millis.push(started.elapsed().as_secs_f64() * 1e3);
        if !turning.forget_rows() || turning.inside() < round * TICK {
            return Err(format!("{} are inside after {round} ticks", turning.inside()).into());
        }
    }
    Ok(millis.into_iter().collect())
}

/// A million who wait and are present, and nobody inside.
fn full_room() -> Result<Room> {
    let host = ServerId("benchmark".into());
    let mut room = Room::new(fill::still(), host, NOW, Bounds::default());
    let ids = Ids::of(filled::GROUP);
    for first in (0..WAITING).step_by(usize::try_from(JOINS)?) {
        let joiners: Result<Vec<Joiner>> = (first..first + JOINS)
            .map(|number| fill::joiner(&ids, number))
            .collect();
        room.apply(Command::Join(joiners?), NOW);
        room.take_changes();
    }
    Ok(room)
}

pub(crate) fn table(millis: &Samples) -> Table {
    Table {
        title: "An embedded tick under the lock of its room".to_owned(),
        note: format!(
            "What the writer does to a room of {} visitors, present, while it has it locked, for a tick of {}: let them in,\n\
             encode the rows to be written, and show the new picture when they are written; {ROUNDS} ticks. These are the store's own\n\
             functions, called one after the other by one thread with nothing else to do, so the time is processor time. Writing the\n\
             rows and syncing happen without the lock and are not in it.",
            report::count(WAITING),
            report::count(TICK),
        ),
        columns: vec!["what", "ms", "min..max"],
        rows: vec![vec![
            format!("tick of {}", report::count(TICK)),
            report::millis(millis.median()),
            millis.spread(report::millis),
        ]],
    }
}

pub(crate) fn goal(millis: &Samples) -> Goal {
    let what = "embedded tick of 3,333, CPU under the room's lock, 1 million waiting";
    Goal::new(what, Bound::AtMost(1.0), "ms", millis)
}
