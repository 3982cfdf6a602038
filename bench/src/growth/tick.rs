//! A tick on top of a line of a given length.

use super::sides::Side;
use crate::{
    Result,
    http::{
        admission::{TICK, admit, redis_time, watch_redis},
        product::Product,
        turns::Turns,
    },
    progress, report,
    stats::Samples,
};

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
    let took = runtime.block_on(admit(product, "main"))?;
    ticks.millis.push(took);
    if let Some(redis) = side.redis() {
        let time = runtime.block_on(redis_time(redis))?;
        ticks.blocked_millis.push(time.longest_ms);
    }
    let millis = report::millis(took);
    let (name, waiting) = (side.design.name(), side.waiting);
    progress::step(&format!("{name}, {waiting} waiting: a tick in {millis} ms"));
    Ok(())
}
