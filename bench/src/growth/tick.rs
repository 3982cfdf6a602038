//! A tick on top of a line of a given length.

use std::{
    net::SocketAddr,
    time::{Duration, Instant},
};

use serde::Deserialize;

use super::sides::Side;
use crate::{
    Result,
    http::{
        client::{self, Client},
        on_redis::tick::{TICK, redis_time, watch_redis},
        product::Product,
        requests,
        turns::Turns,
    },
    progress, report,
    stats::Samples,
};

const ROOM: &str = "/api/v1/admin/rooms/main";
/// Between two looks at whether everybody is in.
const LOOK: Duration = Duration::from_millis(1);
/// A tick that has not ended by then never will.
const END_WITHIN: Duration = Duration::from_secs(60);

/// The ticks of one line.
#[derive(Debug, Default)]
pub(crate) struct Ticks {
    millis: Vec<f64>,
    blocked_millis: Vec<f64>,
}

impl Ticks {
    /// From the order to the last one in.
    pub(crate) fn millis(&self) -> Samples {
        self.millis.iter().copied().collect()
    }

    /// How long Redis did nothing else at most; nothing where there is no Redis.
    pub(crate) fn blocked(&self) -> Samples {
        self.blocked_millis.iter().copied().collect()
    }
}

/// All lines in turn, once per repetition. The plain design has a table of its own for its ticks.
pub(crate) fn measure(turns: &Turns<'_>, sides: &[Side]) -> Result<Vec<Option<Ticks>>> {
    let mut all: Vec<Option<Ticks>> = sides
        .iter()
        .map(|side| side.product().map(|_| Ticks::default()))
        .collect();
    for round in 0..turns.args.rounds {
        for (side, ticks) in sides.iter().zip(&mut all) {
            if let (Some(product), Some(ticks)) = (side.product(), ticks) {
                once(turns, side, product, &format!("tick-{round}"), ticks)?;
            }
        }
    }
    Ok(all)
}

fn once(
    turns: &Turns<'_>,
    side: &Side,
    product: &Product,
    group: &str,
    ticks: &mut Ticks,
) -> Result<()> {
    let runtime = turns.runtime();
    // As many as the tick takes away, so that the line is as long at every tick.
    turns.fill(side.target().address, "main", group, TICK)?;
    if let Some(redis) = side.redis() {
        runtime.block_on(watch_redis(redis))?;
    }
    let took = runtime.block_on(admit(product, side.target().address))?;
    ticks.millis.push(took.as_secs_f64() * 1e3);
    if let Some(redis) = side.redis() {
        let time = runtime.block_on(redis_time(redis))?;
        ticks.blocked_millis.push(time.longest_ms);
    }
    let millis = report::millis(took.as_secs_f64() * 1e3);
    let (name, waiting) = (side.design.name(), side.waiting);
    progress::step(&format!("{name}, {waiting} waiting: a tick in {millis} ms"));
    Ok(())
}

/// What operators see of a room.
#[derive(Debug, Deserialize)]
struct Room {
    waiting: u64,
    active: u64,
}

/// An operator's word is a tick at a time of our choosing: the same settling, on top of the same line.
async fn admit(product: &Product, address: SocketAddr) -> Result<Duration> {
    let authorization = format!("Authorization: Bearer {}\r\n", product.admin_key()?);
    let look = requests::get(ROOM, &authorization);
    let order = requests::post(
        &format!("{ROOM}/admit"),
        &authorization,
        &format!("{{\"count\":{TICK}}}"),
    );
    let mut client = Client::connect(address).await?;
    let before: Room = serde_json::from_slice(client.ask(&look).await?)?;
    let started = Instant::now();
    client.ask(&order).await?;
    while started.elapsed() < END_WITHIN {
        let now: Room = serde_json::from_slice(client.ask(&look).await?)?;
        let took = started.elapsed();
        if now.active >= before.active + TICK {
            return in_order(&before, &now).map(|()| took);
        }
        tokio::time::sleep(LOOK).await;
    }
    Err(format!("{TICK} were not let in within {END_WITHIN:?}").into())
}

/// How many are in line at a server with nothing else to do.
pub(crate) async fn waiting(product: &Product) -> Result<u64> {
    let authorization = format!("Authorization: Bearer {}\r\n", product.admin_key()?);
    let look = requests::get(ROOM, &authorization);
    let room = client::once(product.target().address, &look).await?;
    Ok(serde_json::from_slice::<Room>(&room)?.waiting)
}

/// Whoever is inside was in line before, and nobody was stepped over.
fn in_order(before: &Room, now: &Room) -> Result<()> {
    if now.waiting + TICK == before.waiting && now.active == before.active + TICK {
        return Ok(());
    }
    Err(format!("a tick of {TICK} made {before:?} into {now:?}").into())
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
}
