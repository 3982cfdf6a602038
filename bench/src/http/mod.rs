//! Servers under load over HTTP: the product beside its yardsticks.
//!
//! All run as child processes all the time. The loads take turns, slice by slice, so what disturbs
//! the machine for a while disturbs the yardsticks as well.

pub(crate) mod admission;
pub(crate) mod child;
pub(crate) mod client;
pub(crate) mod compare;
pub(crate) mod embedded;
pub(crate) mod figures;
pub(crate) mod hello;
pub(crate) mod load;
pub(crate) mod on_redis;
pub(crate) mod plain;
pub(crate) mod product;
pub(crate) mod requests;
pub(crate) mod turns;

use std::{net::SocketAddr, path::PathBuf};

use child::OwnServer;
use figures::Figures;
use requests::Requests;

use crate::{limit, stats::Samples};

#[derive(Debug, Clone, clap::Args)]
#[group(skip)]
pub(crate) struct Args {
    /// The release build of `ropeline`.
    #[arg(long, default_value = "target/release/ropeline")]
    pub(crate) product: PathBuf,
    /// How many wait in line while status is measured.
    #[arg(long, default_value_t = 100_000)]
    pub(crate) waiting: u64,
    /// How many are inside while the gate is measured.
    #[arg(long, default_value_t = 10_000)]
    pub(crate) inside: u64,
    /// Repetitions.
    #[arg(long, default_value_t = 5)]
    pub(crate) rounds: usize,
    /// Seconds that one load runs in one repetition.
    #[arg(long, default_value_t = 3.0)]
    pub(crate) seconds: f64,
    /// Connections, kept alive, each with one request on the way.
    #[arg(long, default_value_t = 64)]
    pub(crate) connections: usize,
}

impl Args {
    /// How often each way of letting in is measured.
    fn ticks(&self) -> u64 {
        u64::try_from(self.rounds).unwrap_or(u64::MAX)
    }

    /// As much for the Redis limit as for everything else.
    pub(crate) fn limit(&self) -> limit::Size {
        limit::Size {
            waiting: self.waiting,
            rounds: self.rounds,
            seconds: self.seconds,
        }
    }
}

/// Connections of a crowd. On the night of a sale there are thousands, and what is gathered costs less for each.
const CROWD: usize = 256;

/// Requests of one kind to one server.
#[derive(Debug)]
pub(crate) struct Load {
    name: String,
    server: Target,
    requests: Requests,
    /// Where it is not as many as for the others.
    connections: Option<usize>,
    pub(crate) figures: Figures,
}

/// Where requests go.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Target {
    pub(crate) address: SocketAddr,
    /// Whose processor time a request takes.
    pub(crate) process: u32,
    /// The Redis behind the server, which takes some as well.
    pub(crate) redis: Option<u32>,
}

impl Target {
    fn new(address: SocketAddr, process: u32) -> Self {
        Self {
            address,
            process,
            redis: None,
        }
    }

    pub(crate) fn on(self, redis: u32) -> Self {
        Self {
            redis: Some(redis),
            ..self
        }
    }
}

impl Load {
    pub(crate) fn new(name: impl Into<String>, server: Target, requests: Requests) -> Self {
        Self {
            name: name.into(),
            server,
            requests,
            connections: None,
            figures: Figures::default(),
        }
    }

    fn over(self, connections: usize) -> Self {
        Self {
            connections: Some(connections),
            ..self
        }
    }

    /// The yardstick of a load: hello over as many connections, where that was measured.
    fn hello_beside<'a>(loads: &'a [Self], load: &Self) -> &'a Self {
        let same = |hello: &&Self| {
            hello.name.starts_with("hello") && hello.connections == load.connections
        };
        loads.iter().find(same).unwrap_or(&loads[0])
    }

    fn named<'a>(loads: &'a [Self], name: &str) -> Option<&'a Self> {
        loads.iter().find(|load| load.name == name)
    }

    /// How many times as fast one is as the other, if both were measured.
    fn ratios(loads: &[Self], ours: &str, theirs: &str) -> Option<Samples> {
        let (ours, theirs) = (Self::named(loads, ours)?, Self::named(loads, theirs)?);
        Some(ours.figures.ratios(&theirs.figures))
    }

    /// What every table begins with.
    pub(crate) fn hello(hello: &OwnServer) -> Self {
        Self::new("hello", hello.target(), requests::hello())
    }
}
