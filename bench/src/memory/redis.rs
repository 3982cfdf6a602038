//! The memory of Redis for a line, beside that for a sorted set of the same visitors.

use std::sync::Arc;

use ::redis::{RedisResult, cmd};
use ropeline_core::RoomId;
use ropeline_store::{RedisStore, Store as _, SystemClock};
use ropeline_testing::{Persistence, TestRedis};
use tokio::runtime::Runtime;

use super::embedded::each;
use crate::{
    Result, filled,
    goals::{Bound, Goal},
    growth::fill,
    ids::Ids,
    progress,
    report::{self, Chapter, Table},
    stats::Samples,
};

/// How a line is kept.
#[derive(Debug, Clone, Copy)]
enum Design {
    Ropeline,
    /// The visitors with a score each.
    SortedSet,
    /// And a hash from visitor to token, as seed 003 has beside it.
    WithHash,
}

/// Bytes for each who waits, and for the keys of a room.
#[derive(Debug)]
struct Found {
    ours: f64,
    keys: Vec<(String, f64)>,
    sorted_set: f64,
    with_hash: f64,
}

pub(crate) fn measure(count: u64) -> Result<Chapter> {
    let runtime = Runtime::new()?;
    let (ours, redis) = used(&runtime, Design::Ropeline, count)?;
    let keys = runtime.block_on(keys(&redis, count))?;
    drop(redis);
    let found = Found {
        ours,
        keys,
        sorted_set: used(&runtime, Design::SortedSet, count)?.0,
        with_hash: used(&runtime, Design::WithHash, count)?.0,
    };
    Ok(Chapter {
        tables: vec![table(count, &found)],
        goals: goals(count, &found),
        ..Chapter::default()
    })
}

/// What Redis uses more with the line than without, for each who waits.
fn used(runtime: &Runtime, design: Design, count: u64) -> Result<(f64, TestRedis)> {
    let redis = TestRedis::with(Persistence::None, &[]);
    progress::step(&format!("{design:?}: a line of {count}"));
    let before = runtime.block_on(used_memory(&redis))?;
    match design {
        Design::Ropeline => line_up(runtime, &redis, count)?,
        Design::SortedSet | Design::WithHash => runtime.block_on(add(&redis, count, design))?,
    }
    let after = runtime.block_on(used_memory(&redis))?;
    let bytes = each(before, after, count);
    progress::step(&format!("{bytes:.1} bytes each"));
    Ok((bytes, redis))
}

fn line_up(runtime: &Runtime, redis: &TestRedis, count: u64) -> Result<()> {
    runtime.block_on(async {
        let clock = Arc::new(SystemClock::start());
        let store = RedisStore::open(&redis.url().parse()?, clock).await?;
        let policy = Arc::new(fill::still());
        store.create(&RoomId::main(), policy, None).await?;
        store.close().await;
        Result::Ok(())
    })?;
    fill::redis(&redis.url(), 0..count)
}

async fn add(redis: &TestRedis, count: u64, design: Design) -> RedisResult<()> {
    let tokens = Ids::of("tokens");
    filled::write(&redis.url(), count, |all, number| {
        let visitor = filled::visitor(number);
        if matches!(design, Design::WithHash) {
            all.hset("tokens", &visitor, tokens.nth(number)).ignore();
        }
        all.zadd(filled::LINE, visitor, number).ignore();
    })
    .await
}

/// What each key of the room takes. A few entries of each are looked at; the names are all of one length.
async fn keys(redis: &TestRedis, count: u64) -> RedisResult<Vec<(String, f64)>> {
    let mut redis = filled::connect(&redis.url()).await?;
    let names: Vec<String> = cmd("KEYS").arg("rl:*").query_async(&mut redis).await?;
    let mut keys = Vec::new();
    for name in names {
        let mut usage = cmd("MEMORY");
        let usage = usage.arg("USAGE").arg(&name).arg("SAMPLES").arg(1_000);
        let bytes: u64 = usage.query_async(&mut redis).await?;
        keys.push((name, each(0, bytes, count)));
    }
    keys.sort_by(|a, b| b.1.total_cmp(&a.1));
    keys.truncate(4);
    Ok(keys)
}

async fn used_memory(redis: &TestRedis) -> Result<u64> {
    let mut redis = filled::connect(&redis.url()).await?;
    let info: String = cmd("INFO").arg("memory").query_async(&mut redis).await?;
    let line = info
        .lines()
        .find_map(|line| line.strip_prefix("used_memory:"));
    Ok(line
        .ok_or("Redis does not say what it uses")?
        .trim()
        .parse()?)
}

fn table(count: u64, found: &Found) -> Table {
    let row = |what: &str, bytes: f64| {
        vec![
            what.to_owned(),
            format!("{bytes:.1}"),
            report::ratio(bytes / found.sorted_set),
        ]
    };
    let mut rows = vec![
        row("bare sorted set: visitor → number", found.sorted_set),
        row("sorted set and hash: visitor → token", found.with_hash),
        row("Ropeline, all keys", found.ours),
    ];
    rows.extend(
        found
            .keys
            .iter()
            .map(|(key, bytes)| row(&format!("of these `{key}`"), *bytes)),
    );
    Table {
        title: "Memory of Redis".to_owned(),
        note: format!(
            "Growth of `used_memory` by {} who wait, for each of them. Ids and tokens are UUIDs of 36 characters. Ropeline keeps 16 bytes\n\
             of such an id, and any other id as it is written. It has presence on; its largest keys are shown as `MEMORY USAGE`\n\
             has them. The sorted set alone is {} of sorted set and hash.",
            report::count(count),
            report::ratio(found.sorted_set / found.with_hash),
        ),
        columns: vec!["line", "bytes", "× bare sorted set"],
        rows,
    }
}

fn goals(count: u64, found: &Found) -> Vec<Goal> {
    let goal = |what: &str, bound, unit, figure: f64| {
        let samples: Samples = [figure].into_iter().collect();
        let what = format!(
            "Redis memory for each who waits, {}{what}",
            report::count(count)
        );
        Goal::new(&what, Bound::AtMost(bound), unit, &samples)
    };
    vec![
        goal("", 1.1, "× bare sorted set", found.ours / found.sorted_set),
        goal(
            "",
            0.5,
            "× sorted set and hash",
            found.ours / found.with_hash,
        ),
    ]
}
