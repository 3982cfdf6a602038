//! Loads that take turns on one machine.

use std::{net::SocketAddr, time::Duration};

use tokio::runtime::{Builder, Runtime};

use super::{
    Args, Load, client,
    figures::{Cpu, Repetition},
    load::{self, Filler},
    requests,
};
use crate::{
    Result, progress,
    stats::{self, Tally},
};

/// Long enough for all sides to have grown their buffers and maps.
const WARM_UP: Duration = Duration::from_millis(500);

/// Short against what disturbs a shared machine, long against the making of the connections.
pub(crate) const SLICE: Duration = Duration::from_millis(500);

/// More tokens than this add memory and no insight: the status of the next is as cold as of any.
const TOKENS_KEPT_MAX: u64 = 100_000;

/// The load generator, for all loads of a table.
#[derive(Debug)]
pub(crate) struct Turns<'a> {
    pub(crate) args: &'a Args,
    runtime: Runtime,
}

impl<'a> Turns<'a> {
    pub(crate) fn new(args: &'a Args) -> Result<Self> {
        // One thread, so that the generator's share of the machine is the same for every load.
        let runtime = Builder::new_current_thread().enable_all().build()?;
        Ok(Self { args, runtime })
    }

    pub(crate) fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// Lets `count` visitors join and returns their tokens, evenly thinned out when they are many.
    pub(crate) fn fill(
        &self,
        address: SocketAddr,
        room: &str,
        group: &str,
        count: u64,
    ) -> Result<Vec<String>> {
        const PARTS: u64 = 10;
        let filler = Filler {
            address,
            joins: requests::joins(room, group),
            connections: self.args.connections,
            keep_every: count.div_ceil(TOKENS_KEPT_MAX).max(1),
        };
        let mut tokens = Vec::new();
        progress::begin(&format!("{count} join `{room}`"));
        for part in 0..PARTS {
            let numbers = count * part / PARTS..count * (part + 1) / PARTS;
            tokens.append(&mut filler.fill(numbers)?);
            progress::part(&format!("{}%", (part + 1) * 100 / PARTS));
        }
        progress::end();
        Ok(tokens)
    }

    pub(crate) fn warm_up(&self, loads: &mut [Load]) -> Result<()> {
        for load in loads {
            progress::step(&format!("warming up: {}", load.name));
            self.slice(load, WARM_UP)?;
            let answer = client::once(load.server.address, load.requests.draw());
            load.figures.answer_bytes = self.runtime.block_on(answer)?.len();
        }
        Ok(())
    }

    pub(crate) fn measure(&self, loads: &mut [Load]) -> Result<()> {
        let seconds = self.args.seconds * stats::count(loads.len());
        let rounds = self.args.rounds;
        for round in 1..=rounds {
            progress::step(&format!(
                "round {round} of {rounds}, {seconds:.0} s for all in turn"
            ));
            let repetitions = self.repetition(loads)?;
            for (load, repetition) in loads.iter_mut().zip(repetitions) {
                progress::begin(&format!("  {}", load.name));
                progress::result(&load.figures.add(repetition));
            }
        }
        Ok(())
    }

    /// All loads in turn, slice by slice, until each has run for its time.
    fn repetition(&self, loads: &[Load]) -> Result<Vec<Repetition>> {
        let mut repetitions: Vec<_> = loads.iter().map(|_| Repetition::default()).collect();
        let mut left = Duration::from_secs_f64(self.args.seconds);
        while !left.is_zero() {
            let length = left.min(SLICE);
            left -= length;
            for (load, repetition) in loads.iter().zip(&mut repetitions) {
                let before = Cpu::used(load.server);
                let tally = self.slice(load, length)?;
                repetition.add(tally, before, Cpu::used(load.server));
            }
        }
        Ok(repetitions)
    }

    pub(crate) fn slice(&self, load: &Load, length: Duration) -> Result<Tally> {
        let address = load.server.address;
        let connections = load.connections.unwrap_or(self.args.connections);
        let asked = load::run(address, &load.requests, connections, length);
        asked.map_err(|error| format!("{}: {error}", load.name).into())
    }
}
