//! A tick: so many who wait are let in at once.

use std::{
    net::SocketAddr,
    time::{Duration, Instant},
};

use redis::{RedisResult, Value, cmd};
use ropeline_testing::TestRedis;

use super::{
    super::{Args, client, requests, turns::Turns},
    Servers,
};
use crate::{
    Result,
    goals::{Bound, Goal},
    progress,
    report::{self, Table},
    stats::Samples,
};

/// How many seed 000 lets in per tick.
pub(crate) const TICK: u64 = 3_333;
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
        }
    }

    fn millis(&self) -> Samples {
        self.millis.iter().copied().collect()
    }

    fn blocked(&self) -> Samples {
        self.blocked_millis.iter().copied().collect()
    }
}

/// All ways in turn, once per repetition, each with newcomers.
pub(crate) fn measure(turns: &Turns<'_>, servers: &Servers) -> Result<Vec<Ticks>> {
    let mut ways = vec![
        Ticks::new("plain: one by one", Way::Plain("onebyone")),
        Ticks::new("plain: pipelined", Way::Plain("pipelined")),
    ];
    if servers.product.is_ok() {
        ways.push(Ticks::new("Ropeline", Way::Ropeline));
    }
    for round in 0..turns.args.rounds {
        for (index, ticks) in ways.iter_mut().enumerate() {
            let group = format!("tick-{round}-{index}");
            let (took, blocked) = once(turns, servers, ticks.way, &group)?;
            progress::step(&format!("{}: {} ms", ticks.name, report::millis(took)));
            ticks.millis.push(took);
            ticks.blocked_millis.push(blocked);
        }
    }
    Ok(ways)
}

fn once(turns: &Turns<'_>, servers: &Servers, way: Way, group: &str) -> Result<(f64, f64)> {
    let (address, redis) = match way {
        Way::Plain(_) => (servers.ticking().address, &servers.plain_redis),
        Way::Ropeline => (servers.on_redis()?.address, &servers.redis),
    };
    turns.fill(address, "tick", group, TICK)?;
    let runtime = turns.runtime();
    runtime.block_on(watch_slow_calls(redis))?;
    let started = Instant::now();
    match way {
        Way::Plain(manner) => runtime.block_on(tick_plainly(address, manner))?,
        Way::Ropeline => runtime.block_on(admit(servers, address))?,
    }
    let took = started.elapsed().as_secs_f64() * 1e3;
    Ok((took, runtime.block_on(longest_call(redis))?))
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
async fn admit(servers: &Servers, address: SocketAddr) -> Result<()> {
    let product = servers.product.as_ref().map_err(Clone::clone)?;
    let authorization = format!("Authorization: Bearer {}\r\n", product.admin_key()?);
    let order = format!("{{\"count\":{TICK}}}");
    let path = "/api/v1/admin/rooms/tick";
    client::once(
        address,
        &requests::post(&format!("{path}/admit"), &authorization, &order),
    )
    .await?;
    let look = requests::get(path, &authorization);
    let deadline = Instant::now() + END_WITHIN;
    while Instant::now() < deadline {
        let room = client::once(address, &look).await?;
        if String::from_utf8_lossy(&room).contains("\"waiting\":0,") {
            return Ok(());
        }
        tokio::time::sleep(LOOK).await;
    }
    Err(format!("{TICK} were not let in within {END_WITHIN:?}").into())
}

pub(crate) async fn watch_slow_calls(redis: &TestRedis) -> RedisResult<()> {
    let client = redis::Client::open(redis.url())?;
    let mut redis = client.get_multiplexed_async_connection().await?;
    let mut threshold = cmd("CONFIG");
    let threshold = threshold.arg("SET").arg("slowlog-log-slower-than");
    let () = threshold.arg(SLOW_MICROS).query_async(&mut redis).await?;
    cmd("SLOWLOG").arg("RESET").query_async(&mut redis).await
}

/// In milliseconds. Each entry is an array of id, time, microseconds, arguments and so on.
pub(crate) async fn longest_call(redis: &TestRedis) -> RedisResult<f64> {
    let client = redis::Client::open(redis.url())?;
    let mut redis = client.get_multiplexed_async_connection().await?;
    let calls: Vec<Vec<Value>> = cmd("SLOWLOG")
        .arg("GET")
        .arg(-1)
        .query_async(&mut redis)
        .await?;
    let micros = calls.iter().filter_map(|call| match call.get(2) {
        Some(&Value::Int(micros)) => u32::try_from(micros).ok(),
        _ => None,
    });
    Ok(f64::from(micros.max().unwrap_or(0)) / 1e3)
}

pub(crate) fn table(args: &Args, ways: &[Ticks]) -> Table {
    Table {
        title: format!("A tick of {TICK}, on Redis"),
        note: format!(
            "How long it takes to let in {TICK} of those who wait, {} times each: `ZPOPMIN`, then `SETEX` and `ZADD` for each,\n\
             in a round trip of its own (seeds 002 and 003) or in one pipeline (seed 000); and Ropeline from an operator's\n\
             `admit` until nobody waits, seen from outside. The longest call is how long Redis does nothing else; \n\
             calls below {SLOW_MICROS} µs are not looked at.",
            args.rounds
        ),
        columns: vec!["way", "ms", "min..max", "longest call ms", "min..max"],
        rows: ways.iter().map(row).collect(),
    }
}

pub(crate) fn goals(ways: &[Ticks]) -> Vec<Goal> {
    let Some(ours) = ways.iter().find(|ticks| matches!(ticks.way, Way::Ropeline)) else {
        return Vec::new();
    };
    let goal = |what, bound, samples| Goal::new(what, Bound::AtMost(bound), "ms", samples);
    vec![
        goal("tick of 3,333 on Redis, in all", 12.0, &ours.millis()),
        goal("the same, Redis at a stretch", 5.0, &ours.blocked()),
    ]
}

fn row(ticks: &Ticks) -> Vec<String> {
    let (millis, blocked) = (ticks.millis(), ticks.blocked());
    vec![
        ticks.name.to_owned(),
        format!("{:.0}", millis.median()),
        millis.spread(|millis| format!("{millis:.0}")),
        report::millis(blocked.median()),
        blocked.spread(report::millis),
    ]
}
