//! What a long line takes: memory for each who waits, and time to come back after a crash.

mod embedded;
mod redis;
mod restart;

use crate::{
    Result,
    http::{Args as HttpArgs, turns::Turns},
    progress,
    report::Chapter,
};

#[derive(Debug, Clone, clap::Args)]
#[group(skip)]
pub(crate) struct Args {
    /// How many wait first, and join then: memory is what the second half takes. Redis has so many once.
    #[arg(long, default_value_t = 200_000)]
    memory_waiting: u64,
    /// How many wait when the server is killed and started again.
    #[arg(long, default_value_t = 1_000_000)]
    restart_waiting: u64,
    /// How often it is.
    #[arg(long, default_value_t = 5)]
    restarts: usize,
}

pub(crate) fn run(http: &HttpArgs, args: &Args) -> Result<Chapter> {
    let turns = Turns::new(http)?;
    progress::phase("memory of the embedded store");
    let mut found = embedded::measure(&turns, args.memory_waiting)?;
    progress::phase("memory of Redis");
    found.append(redis::measure(args.memory_waiting)?);
    progress::phase("restarts after a crash");
    found.append(restart::measure(
        &turns,
        args.restart_waiting,
        args.restarts,
    )?);
    Ok(found)
}
