//! A tick: so many who wait are let in at once.

use std::{
    net::SocketAddr,
    time::{Duration, Instant},
};

use redis::{RedisResult, Value, cmd};
use ropeline_testing::TestRedis;

use super::{
    super::{Args, client, requests, turns::Turns},
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

/// How many seed 000 lets in per tick.
pub(crate) const TICK: u64 = 3_333;
/// How many the plain ways let in together, each once.
pub(crate) const ADMITTED_PLAINLY: u64 = 3 * TICK;
/// Calls that take less are of no interest.
const SLOW_MICROS: u64 = 100;
/// Between two looks at whether everybody is in.
const LOOK: Duration = Duration::from_millis(1);
/// A tick that has not ended by then never will.
const END_WITHIN: Duration = Duration::from_secs(60);

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
                Ok(millis_since(started))
            };
            runtime.block_on(watched(&servers.opponents.redis, tick))
        }
        Way::Ropeline => {
            let ours = servers.ours.as_ref().map_err(Clone::clone)?;
            runtime.block_on(watched(&ours.redis, async || admit(ours).await))
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

fn millis_since(started: Instant) -> f64 {
    started.elapsed().as_secs_f64() * 1e3
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

/// An operator's word is a tick at a time of our choosing: the same settling, on top of the same line.
async fn admit(ours: &Ours) -> Result<f64> {
    let address = ours.target().address;
    let authorization = format!("Authorization: Bearer {}\r\n", ours.product.admin_key()?);
    let path = "/api/v1/admin/rooms/tick";
    let look = requests::get(path, &authorization);
    let left = waiting(&client::once(address, &look).await?)?.saturating_sub(TICK);
    let count = format!("{{\"count\":{TICK}}}");
    let order = requests::post(&format!("{path}/admit"), &authorization, &count);
    let started = Instant::now();
    client::once(address, &order).await?;
    while started.elapsed() < END_WITHIN {
        if waiting(&client::once(address, &look).await?)? <= left {
            return Ok(millis_since(started));
        }
        tokio::time::sleep(LOOK).await;
    }
    Err(format!("{TICK} were not let in within {END_WITHIN:?}").into())
}

/// How many wait in the room that an operator looks at.
fn waiting(room: &[u8]) -> Result<u64> {
    let room: serde_json::Value = serde_json::from_slice(room)?;
    let waiting = room["waiting"].as_u64();
    waiting.ok_or_else(|| format!("a room without a number of those who wait: {room}").into())
}

/// Begins to measure what Redis does.
pub(crate) async fn watch_redis(redis: &TestRedis) -> RedisResult<()> {
    let client = redis::Client::open(redis.url())?;
    let mut redis = client.get_multiplexed_async_connection().await?;
    let mut threshold = cmd("CONFIG");
    let threshold = threshold.arg("SET").arg("slowlog-log-slower-than");
    let () = threshold.arg(SLOW_MICROS).query_async(&mut redis).await?;
    let () = cmd("CONFIG")
        .arg("RESETSTAT")
        .query_async(&mut redis)
        .await?;
    cmd("SLOWLOG").arg("RESET").query_async(&mut redis).await
}

/// What Redis spent since [`watch_redis`], in milliseconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RedisTime {
    /// In the longest call: how long it did nothing else.
    pub(crate) longest_ms: f64,
    pub(crate) all_ms: f64,
}

pub(crate) async fn redis_time(redis: &TestRedis) -> RedisResult<RedisTime> {
    let client = redis::Client::open(redis.url())?;
    let mut redis = client.get_multiplexed_async_connection().await?;
    let mut stats = cmd("INFO");
    let stats: String = stats.arg("commandstats").query_async(&mut redis).await?;
    // Each entry is an array of id, time, microseconds, arguments and so on.
    let mut slow = cmd("SLOWLOG");
    let calls: Vec<Vec<Value>> = slow.arg("GET").arg(-1).query_async(&mut redis).await?;
    let micros = calls.iter().filter_map(|call| match call.get(2) {
        Some(&Value::Int(micros)) => u32::try_from(micros).ok(),
        _ => None,
    });
    Ok(RedisTime {
        longest_ms: f64::from(micros.max().unwrap_or(0)) / 1e3,
        all_ms: f64::from(micros_of(&stats)) / 1e3,
    })
}

/// Microseconds of all calls. What scripts call is counted twice by Redis, so where there are scripts, they are all.
fn micros_of(stats: &str) -> u32 {
    let micros = |line: &str| -> Option<u32> {
        let (_, rest) = line.split_once(",usec=")?;
        rest.split(',').next()?.parse().ok()
    };
    let scripts = |line: &&str| line.starts_with("cmdstat_evalsha:");
    match stats.lines().find(scripts) {
        Some(scripts) => micros(scripts).unwrap_or(0),
        None => stats.lines().filter_map(micros).sum(),
    }
}

/// What is known from elsewhere.
pub(crate) fn found(ways: &[Ticks]) -> impl Iterator<Item = Found> {
    let known = [(0, What::TickOneByOne), (2, What::TickPipelined)];
    let found = known.map(|(index, what)| Found::new(what, ways[index].millis().median()));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_scripts_call_is_not_counted_twice() {
        let plain = "# Commandstats\r\ncmdstat_zadd:calls=2,usec=30,usec_per_call=15\r\ncmdstat_get:calls=1,usec=5\r\n";
        assert_eq!(micros_of(plain), 35);
        let ours = format!("{plain}cmdstat_evalsha:calls=1,usec=40,usec_per_call=40\r\n");
        assert_eq!(micros_of(&ours), 40);
    }
}
