//! The server beside a bare axum one.
//!
//! Both run as child processes all the time. The four loads take turns, slice by slice, so what
//! disturbs the machine for a while disturbs the yardstick as well.

mod client;
mod figures;
pub(crate) mod hello;
mod load;
mod product;
mod requests;

use std::{net::SocketAddr, path::PathBuf, time::Duration};

use figures::{Cpu, Figures, Repetition};
use hello::Hello;
use load::Filler;
use product::Product;
use requests::Requests;
use tokio::runtime::{Builder, Runtime};

use crate::{
    Result, progress,
    report::Table,
    stats::{self, Tally},
};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The release build of `ropeline`.
    #[arg(long, default_value = "target/release/ropeline")]
    product: PathBuf,
    /// How many wait in line while status is measured.
    #[arg(long, default_value_t = 100_000)]
    waiting: u64,
    /// How many are inside while the gate is measured.
    #[arg(long, default_value_t = 10_000)]
    inside: u64,
    /// Repetitions.
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Seconds that one load runs in one repetition.
    #[arg(long, default_value_t = 3.0)]
    seconds: f64,
    /// Connections, kept alive, each with one request on the way.
    #[arg(long, default_value_t = 64)]
    connections: usize,
}

/// Long enough for both sides to have grown their buffers and maps.
const WARM_UP: Duration = Duration::from_millis(500);

/// Short against what disturbs a shared machine, long against the making of the connections.
const SLICE: Duration = Duration::from_millis(500);

/// More tokens than this add memory and no insight: the status of the next is as cold as of any.
const TOKENS_KEPT_MAX: u64 = 100_000;

/// Requests of one kind to one server.
struct Load {
    name: &'static str,
    address: SocketAddr,
    process: u32,
    requests: Requests,
    figures: Figures,
}

pub(crate) fn run(args: &Args) -> Result<Vec<Table>> {
    progress::phase("servers");
    // One thread, so that the generator's share of the machine is the same for every load.
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let hello = Hello::start()?;
    let product = Product::start(&args.product, &runtime)?;
    progress::step("both answer");

    let bench = Bench {
        args,
        runtime,
        hello,
        product,
    };
    match bench.measure() {
        Ok(loads) => Ok(vec![figures::table(args, &loads)]),
        Err(error) => Err(format!("{error}\n{}", bench.product.last_words()).into()),
    }
}

struct Bench<'a> {
    args: &'a Args,
    runtime: Runtime,
    hello: Hello,
    product: Product,
}

impl Bench<'_> {
    fn measure(&self) -> Result<Vec<Load>> {
        progress::phase("filling and warming up");
        let mut loads = self.loads()?;
        for load in &mut loads {
            self.warm_up(load)?;
        }

        progress::phase("requests over HTTP");
        let seconds = self.args.seconds * stats::count(loads.len());
        let rounds = self.args.rounds;
        for round in 1..=rounds {
            progress::step(&format!(
                "round {round} of {rounds}, {seconds:.0} s for all in turn"
            ));
            let repetitions = self.repetition(&loads)?;
            for (load, repetition) in loads.iter_mut().zip(repetitions) {
                progress::begin(&format!("  {}", load.name));
                progress::result(&load.figures.add(repetition));
            }
        }
        Ok(loads)
    }

    /// The yardstick is the first.
    fn loads(&self) -> Result<Vec<Load>> {
        let waiting = self.fill("main", "bench-waiting", self.args.waiting)?;
        let inside = self.fill("inside", "bench-inside", self.args.inside)?;
        let status = requests::with_tokens("/api/v1/queue/status", &waiting);
        let verify = requests::with_tokens("/api/v1/queue/verify?room=inside", &inside);
        Ok(vec![
            Load {
                name: "hello",
                address: self.hello.address(),
                process: self.hello.process(),
                requests: requests::hello(),
                figures: Figures::default(),
            },
            self.of_product("status", status),
            self.of_product("durable join", requests::joins("main", "bench-joining")),
            self.of_product("gate check", verify),
        ])
    }

    fn of_product(&self, name: &'static str, requests: Requests) -> Load {
        Load {
            name,
            address: self.product.address(),
            process: self.product.process(),
            requests,
            figures: Figures::default(),
        }
    }

    /// Lets `count` visitors join and returns their tokens, evenly thinned out when they are many.
    fn fill(&self, room: &str, group: &str, count: u64) -> Result<Vec<String>> {
        const PARTS: u64 = 10;
        let keep_every = count.div_ceil(TOKENS_KEPT_MAX).max(1);
        let filler = Filler {
            address: self.product.address(),
            joins: requests::joins(room, group),
            connections: self.args.connections,
            keep_every,
        };
        let mut tokens = Vec::new();
        progress::begin(&format!("{count} join `{room}`"));
        for part in 0..PARTS {
            let numbers = count * part / PARTS..count * (part + 1) / PARTS;
            tokens.append(&mut self.runtime.block_on(filler.fill(numbers))?);
            progress::part(&format!("{}%", (part + 1) * 100 / PARTS));
        }
        progress::end();
        Ok(tokens)
    }

    fn warm_up(&self, load: &mut Load) -> Result<()> {
        progress::step(&format!("warming up: {}", load.name));
        self.slice(load, WARM_UP)?;
        let answer = client::once(load.address, load.requests.draw());
        load.figures.answer_bytes = self.runtime.block_on(answer)?.len();
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
                let before = Cpu::used(load.process);
                let tally = self.slice(load, length)?;
                repetition.add(tally, before, Cpu::used(load.process));
            }
        }
        Ok(repetitions)
    }

    fn slice(&self, load: &Load, length: Duration) -> Result<Tally> {
        let asking = load::run(load.address, &load.requests, self.args.connections, length);
        self.runtime.block_on(asking)
    }
}
