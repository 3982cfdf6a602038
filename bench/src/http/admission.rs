//! Letting in so many at once by an operator's word, and what Redis does meanwhile.

use std::time::{Duration, Instant};

use redis::{RedisResult, Value, cmd};
use ropeline_testing::TestRedis;
use serde::Deserialize;

use super::{
    client::{self, Client},
    product::Product,
    requests,
};
use crate::{Result, filled};

/// How many seed 000 lets in per tick.
pub(crate) const TICK: u64 = 3_333;
/// Calls that take less are of no interest.
pub(crate) const SLOW_MICROS: u64 = 100;
/// Between two looks at whether everybody is in.
const LOOK: Duration = Duration::from_millis(1);
/// A tick that has not ended by then never will.
const END_WITHIN: Duration = Duration::from_secs(60);

/// What operators see of a room.
#[derive(Debug, Deserialize)]
struct Room {
    waiting: u64,
    active: u64,
}

/// An operator's word is a tick at a time of our choosing: the same settling, on top of the same line. Says how many
/// milliseconds it took until all were in.
pub(crate) async fn admit(product: &Product, room: &str) -> Result<f64> {
    let (path, authorization) = (path(room), authorization(product)?);
    let look = requests::get(&path, &authorization);
    let count = format!("{{\"count\":{TICK}}}");
    let order = requests::post(&format!("{path}/admit"), &authorization, &count);
    let mut client = Client::connect(product.target().address).await?;
    let before: Room = serde_json::from_slice(client.ask(&look).await?)?;
    let started = Instant::now();
    client.ask(&order).await?;
    while started.elapsed() < END_WITHIN {
        let now: Room = serde_json::from_slice(client.ask(&look).await?)?;
        let took = started.elapsed().as_secs_f64() * 1e3;
        if now.active >= before.active + TICK {
            return in_order(&before, &now).map(|()| took);
        }
        tokio::time::sleep(LOOK).await;
    }
    Err(format!("{TICK} were not let in within {END_WITHIN:?}").into())
}

/// How many are in line at a server with nothing else to do.
pub(crate) async fn waiting(product: &Product, room: &str) -> Result<u64> {
    let look = requests::get(&path(room), &authorization(product)?);
    let room = client::once(product.target().address, &look).await?;
    Ok(serde_json::from_slice::<Room>(&room)?.waiting)
}

fn path(room: &str) -> String {
    format!("/api/v1/admin/rooms/{room}")
}

fn authorization(product: &Product) -> Result<String> {
    Ok(format!(
        "Authorization: Bearer {}\r\n",
        product.admin_key()?
    ))
}

/// Whoever is inside was in line before, and nobody was stepped over.
fn in_order(before: &Room, now: &Room) -> Result<()> {
    if now.waiting + TICK == before.waiting && now.active == before.active + TICK {
        return Ok(());
    }
    Err(format!("a tick of {TICK} made {before:?} into {now:?}").into())
}

/// Begins to measure what Redis does.
pub(crate) async fn watch_redis(redis: &TestRedis) -> RedisResult<()> {
    let mut redis = filled::connect(&redis.url()).await?;
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
    let mut redis = filled::connect(&redis.url()).await?;
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

/// Microseconds of all calls. What functions call is counted twice by Redis, so where there are functions, they are all.
fn micros_of(stats: &str) -> u32 {
    let micros = |line: &str| -> Option<u32> {
        let (_, rest) = line.split_once(",usec=")?;
        rest.split(',').next()?.parse().ok()
    };
    let functions = |line: &&str| line.starts_with("cmdstat_fcall:");
    match stats.lines().find(functions) {
        Some(functions) => micros(functions).unwrap_or(0),
        None => stats.lines().filter_map(micros).sum(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tick_that_steps_somebody_over_is_no_measurement() {
        let before = Room {
            waiting: 10_000,
            active: 5,
        };
        let after = |waiting, active| in_order(&before, &Room { waiting, active });
        assert!(after(10_000 - TICK, 5 + TICK).is_ok());
        assert!(after(10_000 - TICK - 1, 5 + TICK).is_err());
        assert!(after(10_000 - TICK, 6 + TICK).is_err());
    }

    #[test]
    fn what_functions_call_is_not_counted_twice() {
        let plain = "# Commandstats\r\ncmdstat_zadd:calls=2,usec=30,usec_per_call=15\r\ncmdstat_get:calls=1,usec=5\r\n";
        assert_eq!(micros_of(plain), 35);
        let ours = format!("{plain}cmdstat_fcall:calls=1,usec=40,usec_per_call=40\r\n");
        assert_eq!(micros_of(&ours), 40);
    }
}
