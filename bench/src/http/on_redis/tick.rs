//! A tick: so many who wait are let in at once.

use std::{net::SocketAddr, time::Instant};

use ropeline_testing::TestRedis;

use super::{
    super::{
        Args,
        admission::{RedisTime, SLOW_MICROS, TICK, admit, redis_time, watch_redis},
        client, requests,
        turns::Turns,
    },
    Ours, Servers,
};
use crate::{
    Result,
    beforehand::{Found, What},
    goals::{Bound, Goal},
    progress,
    report::{self, Chapter, Table},
    stats::Samples,
};

/// How many the plain ways let in together, each once.
pub(crate) const ADMITTED_PLAINLY: u64 = 3 * TICK;

/// One way to let them in.
#[derive(Debug)]
pub(crate) struct Ticks {
    name: &'static str,
    way: Way,
    /// From the order to the last one in, in milliseconds.
    millis: Vec<f64>,
    /// How long Redis did nothing else at most.
    blocked_millis: Vec<f64>,
    redis_millis: Vec<f64>,
}

#[derive(Debug, Clone, Copy)]
enum Way {
    Plain(&'static str),
    Ropeline,
}

impl Ticks {
    fn new(name: &'static str, way: Way) -> Self {
        Self {
            name,
            way,
            millis: Vec::new(),
            blocked_millis: Vec::new(),
            redis_millis: Vec::new(),
        }
    }

    fn millis(&self) -> Samples {
        self.millis.iter().copied().collect()
    }

    fn blocked(&self) -> Samples {
        self.blocked_millis.iter().copied().collect()
    }

    fn of_redis(&self) -> Samples {
        self.redis_millis.iter().copied().collect()
    }
}

/// A line so long that as many as were asked for still wait behind the last tick; and tokens of those in it.
pub(crate) fn fill(turns: &Turns<'_>, ours: &Ours) -> Result<Vec<String>> {
    let waiting = turns.args.waiting + TICK * turns.args.ticks();
    turns.fill(ours.target().address, "tick", "bench-tick", waiting)
}

/// All ways in turn, once per repetition.
pub(crate) fn measure(turns: &Turns<'_>, servers: &Servers) -> Result<Vec<Ticks>> {
    let mut ways = vec![
        Ticks::new("plain: one by one", Way::Plain("onebyone")),
        Ticks::new("plain: pipelined", Way::Plain("pipelined")),
        Ticks::new("plain: pipelined, `SADD` and `EXPIRE`", Way::Plain("sets")),
    ];
    if servers.ours.is_ok() {
        ways.push(Ticks::new("Ropeline", Way::Ropeline));
    }
    for _ in 0..turns.args.rounds {
        for ticks in &mut ways {
            let (took, redis) = once(turns, servers, ticks.way)?;
            progress::step(&format!("{}: {} ms", ticks.name, report::millis(took)));
            ticks.millis.push(took);
            ticks.blocked_millis.push(redis.longest_ms);
            ticks.redis_millis.push(redis.all_ms);
        }
    }
    Ok(ways)
}

fn once(turns: &Turns<'_>, servers: &Servers, way: Way) -> Result<(f64, RedisTime)> {
    let runtime = turns.runtime();
    match way {
        Way::Plain(manner) => {
            let address = servers.opponents.ticking().address;
            let tick = async || {
                let started = Instant::now();
                tick_plainly(address, manner).await?;
                Ok(started.elapsed().as_secs_f64() * 1e3)
            };
            runtime.block_on(watched(&servers.opponents.redis, tick))
        }
        Way::Ropeline => {
            let ours = servers.ours.as_ref().map_err(Clone::clone)?;
            let tick = async || admit(&ours.product, "tick").await;
            runtime.block_on(watched(&ours.redis, tick))
        }
    }
}

/// How long a tick took, and what Redis did meanwhile.
async fn watched(
    redis: &TestRedis,
    tick: impl AsyncFnOnce() -> Result<f64>,
) -> Result<(f64, RedisTime)> {
    watch_redis(redis).await?;
    let took = tick().await?;
    Ok((took, redis_time(redis).await?))
}

async fn tick_plainly(address: SocketAddr, manner: &str) -> Result<()> {
    let order = requests::post(&format!("/tick/{manner}/{TICK}"), "", "");
    let moved = client::once(address, &order).await?;
    if moved != TICK.to_string().as_bytes() {
        let moved = String::from_utf8_lossy(&moved);
        return Err(format!("a tick of {TICK} moved {moved}").into());
    }
    Ok(())
}

/// What is known from elsewhere.
pub(crate) fn found(ways: &[Ticks]) -> impl Iterator<Item = Found> {
    let [one_by_one, _, sets] = [0, 1, 2].map(|index| &ways[index]);
    // What keeps Redis for longest is that it takes so many out of the line.
    let found = [
        (What::TickOneByOne, one_by_one.millis()),
        (What::TickPipelined, sets.millis()),
        (What::Pop, sets.blocked()),
    ];
    let found = found.map(|(what, millis)| Found::new(what, millis.median()));
    found.into_iter()
}

pub(crate) fn chapter(args: &Args, ways: &[Ticks]) -> Chapter {
    Chapter {
        tables: vec![table(args, ways)],
        goals: goals(ways),
        ..Chapter::default()
    }
}

fn table(args: &Args, ways: &[Ticks]) -> Table {
    Table {
        title: format!("A tick of {TICK}, on Redis"),
        note: format!(
            "How long it takes to let in {TICK} from the head of a line in which {} more wait, {} times each: `ZPOPMIN`, then\n\
             `SETEX` and `ZADD` for each in a round trip of its own (seeds 002 and 003) or in one pipeline; or `SADD` and\n\
             `EXPIRE` for each in one pipeline (seed 000), which keeps no count of those inside; and Ropeline, presence on, from\n\
             an operator's `admit` until all are in, seen from outside. Redis ms is what Redis spends on it in all, and the longest\n\
             call is how long it does nothing else; for that, calls below {SLOW_MICROS} µs are not looked at.",
            args.waiting, args.rounds
        ),
        columns: vec![
            "way",
            "ms",
            "min..max",
            "Redis ms",
            "min..max",
            "longest call ms",
            "min..max",
        ],
        rows: ways.iter().map(row).collect(),
    }
}

fn goals(ways: &[Ticks]) -> Vec<Goal> {
    let [_, _, sets, ours] = ways else {
        return Vec::new();
    };
    let goal = |what, bound, unit, samples| Goal::new(what, Bound::AtMost(bound), unit, samples);
    let pairs = ours.millis.iter().zip(&sets.millis);
    let beside: Samples = pairs.map(|(ours, sets)| ours / sets).collect();
    vec![
        goal(
            "tick of 3,333, Redis at a stretch",
            5.0,
            "ms",
            &ours.blocked(),
        ),
        goal("the same, Redis in all", 12.0, "ms", &ours.of_redis()),
        goal("the same, until all are in", 12.0, "ms", &ours.millis()),
        goal(
            "the same, beside pipelined `SADD` and `EXPIRE`",
            1.0,
            "× its time",
            &beside,
        ),
    ]
}

fn row(ticks: &Ticks) -> Vec<String> {
    let (millis, blocked, redis) = (ticks.millis(), ticks.blocked(), ticks.of_redis());
    vec![
        ticks.name.to_owned(),
        format!("{:.0}", millis.median()),
        millis.spread(|millis| format!("{millis:.0}")),
        report::short(redis.median()),
        redis.spread(report::short),
        report::millis(blocked.median()),
        blocked.spread(report::millis),
    ]
}
