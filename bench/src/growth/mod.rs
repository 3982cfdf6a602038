//! What becomes of status, join and tick as the line grows.
//!
//! There is a server for every length of the line, and all run all the time: their loads take turns, so that lengths are
//! compared within a repetition as everything else is.

pub(crate) mod fill;
mod lock;
pub(crate) mod sides;
mod tables;
mod tick;

use sides::{Design, Side};
use tick::Ticks;

use crate::{
    Result,
    goals::{Bound, Goal},
    http::{Args as HttpArgs, Load, child::OwnServer, requests, turns::Turns},
    progress,
    report::Chapter,
};

#[derive(Debug, Clone, clap::Args)]
#[group(skip)]
pub(crate) struct Args {
    /// How many wait, from the shortest line to the longest.
    #[arg(long, value_delimiter = ',', default_value = "10000,100000,1000000")]
    lengths: Vec<u64>,
    /// Repetitions for every length.
    #[arg(long, default_value_t = 3)]
    growth_rounds: usize,
    /// Seconds that one load runs in one repetition.
    #[arg(long, default_value_t = 1.0)]
    growth_seconds: f64,
}

/// A line of one length in one design, and what was measured of it.
#[derive(Debug)]
pub(crate) struct Grown {
    design: Design,
    waiting: u64,
    status: Load,
    join: Load,
    ticks: Option<Ticks>,
}

pub(crate) fn run(http: &HttpArgs, args: &Args) -> Result<Chapter> {
    let http = HttpArgs {
        rounds: args.growth_rounds,
        seconds: args.growth_seconds,
        ..http.clone()
    };
    let turns = Turns::new(&http)?;
    progress::phase("lines that grow");
    let hello = OwnServer::start(&["hello"])?;
    let mut sides = Vec::new();
    for design in Design::ALL {
        for &waiting in &args.lengths {
            sides.push(Side::start(design, waiting, &turns)?);
        }
    }
    let measured = measure(&turns, &hello, &sides);
    let (hellos, grown) = measured.map_err(|error| format!("{error}\n{}", last_words(&sides)))?;
    drop(sides);
    let locked = lock::measure()?;
    let mut goals = goals(&grown);
    goals.push(lock::goal(&locked));
    Ok(Chapter {
        tables: vec![tables::growth(&http, &grown, &hellos), lock::table(&locked)],
        plots: tables::plots(&grown, &hellos),
        goals,
    })
}

/// The yardstick beside status, and beside joins.
type Hellos = [Load; 2];

fn measure(turns: &Turns<'_>, hello: &OwnServer, sides: &[Side]) -> Result<(Hellos, Vec<Grown>)> {
    // First what leaves the line as it is, last what makes it longer.
    let (hello_beside_status, statuses) = beside(turns, hello, sides, "status", |side| {
        Ok(requests::with_tokens(
            "/api/v1/queue/status",
            &side.tokens(turns)?,
        ))
    })?;
    progress::phase("ticks as the line grows");
    let ticks = tick::measure(turns, sides)?;
    let (hello_beside_joins, joins) = beside(turns, hello, sides, "join", |_| {
        Ok(requests::joins("main", "bench-joining"))
    })?;
    let loads = statuses.into_iter().zip(joins).zip(ticks);
    let grown = sides
        .iter()
        .zip(loads)
        .map(|(side, ((status, join), ticks))| Grown {
            design: side.design,
            waiting: side.waiting,
            status,
            join,
            ticks,
        });
    Ok(([hello_beside_status, hello_beside_joins], grown.collect()))
}

/// The same request to every server, and the yardstick beside them.
fn beside(
    turns: &Turns<'_>,
    hello: &OwnServer,
    sides: &[Side],
    what: &str,
    requests: impl Fn(&Side) -> Result<requests::Requests>,
) -> Result<(Load, Vec<Load>)> {
    progress::phase(&format!("{what} as the line grows"));
    let mut loads = vec![Load::hello(hello)];
    for side in sides {
        let name = format!("{}, {} waiting: {what}", side.design.name(), side.waiting);
        loads.push(Load::new(name, side.target(), requests(side)?));
    }
    turns.warm_up(&mut loads)?;
    turns.measure(&mut loads)?;
    let hello = loads.remove(0);
    Ok((hello, loads))
}

/// Of the longest line against the shortest.
fn goals(grown: &[Grown]) -> Vec<Goal> {
    let ropeline = [Design::Embedded, Design::OnRedis];
    let goals = ropeline.iter().filter_map(|&design| length(grown, design));
    goals.collect()
}

fn length(grown: &[Grown], design: Design) -> Option<Goal> {
    let mut lines = grown.iter().filter(|line| line.design == design);
    let (shortest, longest) = (lines.next()?, lines.next_back()?);
    let what = format!(
        "status, {}, {} waiting against {}",
        design.name(),
        tables::length(longest.waiting),
        tables::length(shortest.waiting),
    );
    let ratios = longest.status.figures.ratios(&shortest.status.figures);
    Some(Goal::new(&what, Bound::AtLeast(0.95), "×", &ratios))
}

/// The end of each server's log, for whoever reads why the run failed.
fn last_words(sides: &[Side]) -> String {
    let words: Vec<String> = sides.iter().map(Side::last_words).collect();
    words.join("\n")
}
