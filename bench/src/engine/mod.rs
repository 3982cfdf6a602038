//! The storage engines under durable joins, without HTTP.
//!
//! One writer takes whatever joins are queued when its last sync has ended (no timer), writes them
//! with the room's header as one atomic batch, syncs, and only then answers.

mod fjall;
mod log;
mod redb;

use std::{
    fmt::Write as _,
    path::Path,
    sync::mpsc::{self, Receiver, Sender},
    thread,
    time::{Duration, Instant},
};

use tempfile::TempDir;

use crate::{
    Result,
    ids::Ids,
    progress,
    report::{self, Table},
    stats::{self, Run, Tally},
};

#[derive(Debug, clap::Args)]
#[group(skip)]
pub(crate) struct Args {
    /// Repetitions of every engine.
    #[arg(long, default_value_t = 3)]
    engine_rounds: usize,
    /// Seconds that one engine runs in one repetition.
    #[arg(long, default_value_t = 1.5)]
    engine_seconds: f64,
}

/// As many callers as one busy connection pool has, and as many as a crowd.
const CALLERS: [usize; 2] = [64, 1000];

/// About what a room's counters and policy take.
const HEADER_BYTES: usize = 300;

/// What is on the disk when `commit` returns survives a power cut.
trait Engine: Send {
    fn commit(&mut self, first_ordinal: u64, joins: &[Join], header: &[u8]) -> Result<()>;
}

/// A visitor who waits for an answer.
struct Join {
    visitor: String,
    asked_at: Instant,
}

type Open = fn(&Path) -> Result<Box<dyn Engine>>;

/// The first is what the others are compared with.
const ENGINES: [(&str, Open); 4] = [
    ("plain file, append and sync", log::open),
    ("fjall", fjall::open),
    ("redb", redb::open),
    ("redb, quick repair", redb::open_quick_repair),
];

pub(crate) fn run(args: &Args) -> Result<Table> {
    progress::phase("storage engines: durable joins, one writer, natural batching");
    let mut rows = Vec::new();
    for callers in CALLERS {
        let mut runs: Vec<Vec<Run>> = ENGINES.iter().map(|_| Vec::new()).collect();
        for round in 1..=args.engine_rounds {
            progress::step(&format!(
                "{callers} callers, round {round} of {}",
                args.engine_rounds
            ));
            for ((name, open), runs) in ENGINES.iter().zip(&mut runs) {
                let length = Duration::from_secs_f64(args.engine_seconds);
                progress::begin(&format!("  {name}"));
                let run = measure(*open, callers, length)?;
                progress::result(&run);
                runs.push(run);
            }
        }
        let yardstick = &runs[0];
        for ((name, _), runs) in ENGINES.iter().zip(&runs) {
            rows.push(report::compared(
                format!("{callers}, {name}"),
                runs,
                yardstick,
            ));
        }
    }
    Ok(Table {
        title: "Storage engines under durable joins".to_owned(),
        note: format!(
            "One writer thread, whatever is queued goes into one atomic batch (a row of 8 + 38 bytes for \
             each join\nand one header of {HEADER_BYTES} bytes), synced to disk before the answer. No HTTP."
        ),
        columns: vec![
            "callers, engine",
            "joins/s",
            "min..max",
            "p50 ms",
            "p99 ms",
            "max ms",
            "× plain file",
        ],
        rows,
    })
}

fn measure(open: Open, callers: usize, length: Duration) -> Result<Run> {
    let directory = TempDir::new()?;
    let engine = open(directory.path())?;
    let (ask, asked) = mpsc::channel();
    let (answer, answered) = mpsc::channel();
    thread::scope(|scope| {
        let writer = scope.spawn(move || write(engine, &asked, &answer));
        let run = call(callers, length, ask, &answered);
        writer.join().expect("the writer does not panic")?;
        run
    })
}

/// The one writer: answers every batch after its sync, until nobody asks any more.
fn write(
    mut engine: Box<dyn Engine>,
    asked: &Receiver<Join>,
    answer: &Sender<Vec<Join>>,
) -> Result<()> {
    let header = [7; HEADER_BYTES];
    let mut next_ordinal = 1;
    while let Ok(first) = asked.recv() {
        let mut joins = vec![first];
        joins.extend(asked.try_iter());
        engine.commit(next_ordinal, &joins, &header)?;
        next_ordinal += u64::try_from(joins.len())?;
        answer.send(joins)?;
    }
    Ok(())
}

/// All callers in one loop: each asks again as soon as it is answered.
fn call(
    callers: usize,
    length: Duration,
    ask: Sender<Join>,
    answered: &Receiver<Vec<Join>>,
) -> Result<Run> {
    let (ids, mut visitors) = (Ids::of("bench-joining"), 0_u64);
    let mut join_again = |mut visitor: String| {
        visitors += 1;
        visitor.clear();
        let (start, digits) = (ids.start(), Ids::DIGITS);
        write!(visitor, "u:{start}{visitors:0digits$}").expect("a string takes every write");
        let asked_at = Instant::now();
        ask.send(Join { visitor, asked_at })
    };
    let started = Instant::now();
    for _ in 0..callers {
        join_again(String::new())?;
    }
    let mut waits = Vec::new();
    while started.elapsed() < length {
        // The writer has gone only if it failed, and then it says why itself.
        let Ok(joins) = answered.recv() else { break };
        let now = Instant::now();
        for join in joins {
            waits.push(stats::micros(now - join.asked_at));
            if join_again(join.visitor).is_err() {
                break;
            }
        }
    }
    let elapsed = started.elapsed();
    // The last joins are still to be written, and their answers need somebody to take them.
    drop(ask);
    while answered.recv().is_ok() {}
    Ok(Tally { waits, elapsed }.into())
}
