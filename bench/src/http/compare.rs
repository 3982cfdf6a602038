//! Two builds of the product, in turn on one machine: what a change costs on the hot paths.

use std::path::{Path, PathBuf};

use ropeline_testing::{Persistence, TestRedis};

use super::{
    CROWD, Load, Target, on_redis::servers::OPTIONS, product::Product, requests, turns::Turns,
};
use crate::{
    Result, progress,
    report::{self, Chapter, Table},
};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    http: super::Args,
    /// The release build of `ropeline` that `--product` is compared with.
    #[arg(long)]
    earlier: PathBuf,
}

/// A server of one build, with a Redis of its own where it uses one.
struct Side {
    product: Product,
    redis: Option<TestRedis>,
}

impl Side {
    fn embedded(binary: &Path, turns: &Turns<'_>) -> Result<Self> {
        Ok(Self {
            product: Product::start(binary, "embedded", turns.runtime())?,
            redis: None,
        })
    }

    fn on_redis(binary: &Path, turns: &Turns<'_>) -> Result<Self> {
        let redis = TestRedis::with(Persistence::EverySecond, &OPTIONS);
        Ok(Self {
            product: Product::start(binary, &redis.url(), turns.runtime())?,
            redis: Some(redis),
        })
    }

    fn target(&self) -> Target {
        let target = self.product.target();
        match &self.redis {
            Some(redis) => target.on(redis.process()),
            None => target,
        }
    }
}

pub(crate) fn run(args: &Args) -> Result<Chapter> {
    let turns = Turns::new(&args.http)?;
    let mut chapter = Chapter::default();
    let stores = [
        ("Two builds, embedded", Side::embedded as fn(&Path, &_) -> _),
        ("Two builds, on Redis", Side::on_redis),
    ];
    for (title, start) in stores {
        progress::phase(title);
        let (earlier, later) = (
            start(&args.earlier, &turns)?,
            start(&args.http.product, &turns)?,
        );
        let pairs = measure(&turns, &earlier, &later)?;
        chapter.tables.push(table(title, &args.http, &pairs));
    }
    Ok(chapter)
}

/// The loads of both sides, each of the earlier build followed by the same of the later one.
fn measure(turns: &Turns<'_>, earlier: &Side, later: &Side) -> Result<Vec<Load>> {
    let (earlier, later) = (
        loads(turns, earlier.target())?,
        loads(turns, later.target())?,
    );
    let pairs = earlier.into_iter().zip(later);
    let mut loads: Vec<Load> = pairs.flat_map(|(one, other)| [one, other]).collect();
    turns.warm_up(&mut loads)?;
    turns.measure(&mut loads)?;
    Ok(loads)
}

fn loads(turns: &Turns<'_>, target: Target) -> Result<Vec<Load>> {
    let waiting = turns.fill(target.address, "main", "bench-waiting", turns.args.waiting)?;
    let inside = turns.fill(target.address, "inside", "bench-inside", turns.args.inside)?;
    let status = requests::with_tokens("/api/v1/queue/status", &waiting);
    let verify = requests::with_tokens("/api/v1/queue/verify?room=inside", &inside);
    let joins = requests::joins("main", "bench-joining");
    let crowding = requests::joins("main", "bench-crowding");
    Ok(vec![
        Load::new("status", target, status),
        Load::new("join", target, joins),
        Load::new("gate check", target, verify.clone()),
        Load::new("join, 256 connections", target, crowding).over(CROWD),
        Load::new("gate check, 256 connections", target, verify).over(CROWD),
    ])
}

fn table(title: &str, args: &super::Args, loads: &[Load]) -> Table {
    let row = |pair: &[Load]| {
        let (earlier, later) = (&pair[0].figures, &pair[1].figures);
        let ratios = later.ratios(earlier);
        vec![
            pair[1].name.clone(),
            report::rate(earlier.per_second().median()),
            report::rate(later.per_second().median()),
            report::ratio(ratios.median()),
            ratios.spread(report::ratio),
            report::short(earlier.all_micros()),
            report::short(later.all_micros()),
        ]
    };
    Table {
        title: title.to_owned(),
        note: format!(
            "{} connections where nothing else is said, {} repetitions of {} s, {} waiting, {} inside. Both servers\n\
             run all the time and take turns. CPU is that of server and Redis for one request.",
            args.connections, args.rounds, args.seconds, args.waiting, args.inside
        ),
        columns: vec![
            "request",
            "earlier/s",
            "later/s",
            "ratio",
            "min..max",
            "CPU µs earlier",
            "CPU µs later",
        ],
        rows: loads.chunks_exact(2).map(row).collect(),
    }
}
