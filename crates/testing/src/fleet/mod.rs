//! Random histories of a fleet, in which faults come together: several nodes, store servers and
//! Sentinels.
//!
//! Each server keeps a real [`Room`](ropeline_core::Room); nodes, replication, failover and
//! visitors are simulated, in one thread and with a clock of their own. A [`Schedule`] says what
//! happens and is plain data. A checker compares what visitors are shown with the [`Promise`]s;
//! what the rule does not promise is an [`Excuse`], and counted. A history that breaks a promise is
//! made as short as possible and printed line by line.
//!
//! What a node does when a store may have forgotten is its [`Rule`], which can be exchanged.

mod checker;
mod fence;
mod generate;
mod network;
mod node;
mod schedule;
mod search;
mod server;
mod shrink;
mod timeline;
mod world;

use std::time::Duration;

use ropeline_core::{Identity, Policy};

pub use checker::{Excuse, Excuses, Promise, Violation};
pub use fence::{Mistake, Repair};
pub use schedule::{
    Event, Fault, Millis, NODES, NodeDisk, OldMaster, SERVERS, Schedule, ServerDisk, Step,
};
pub use search::{Found, Report, search};
pub use shrink::shrink;
pub use timeline::Timeline;
pub use world::Played;

use self::{fence::Fence, node::Node, world::World};

/// At most this many are inside.
const CAP: u64 = 2;

/// What nodes do when a store may have forgotten.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// They fence by generation and term.
    Fence,
    /// The same, with one part left out.
    Without(Repair),
    /// The same, with something done wrong.
    With(Mistake),
}

impl Rule {
    fn node(self, number: usize) -> Box<dyn Node> {
        Box::new(Fence::new(number, self))
    }

    fn has(self, repair: Repair) -> bool {
        self != Self::Without(repair)
    }
}

/// Which nodes are tried, and for what.
#[derive(Debug, Clone)]
pub struct Trial {
    /// What the nodes do.
    pub rule: Rule,
    /// The promises that count.
    pub watched: Vec<Promise>,
}

impl Trial {
    /// Every promise counts.
    pub fn of(rule: Rule) -> Self {
        Self {
            rule,
            watched: Promise::ALL.to_vec(),
        }
    }

    /// Only these count.
    pub fn watching(rule: Rule, watched: &[Promise]) -> Self {
        Self {
            rule,
            watched: watched.to_vec(),
        }
    }
}

impl Schedule {
    /// Plays the history.
    pub fn play(&self, trial: &Trial, timeline: Timeline) -> Played {
        World::new(self, trial, timeline).play(&self.steps)
    }

    /// How many visitors it takes.
    fn visitors(&self) -> usize {
        let numbers = self.steps.iter().filter_map(|step| match step.event {
            Event::Join { visitor, .. }
            | Event::Poll { visitor, .. }
            | Event::Leave { visitor, .. }
            | Event::Enter { visitor, .. } => Some(visitor + 1),
            _ => None,
        });
        numbers.max().unwrap_or_default()
    }
}

/// Small numbers, so that limits are met often, and nobody is ever absent.
fn policy() -> Policy {
    Policy {
        every: Duration::from_millis(100),
        batch: None,
        active_max: Some(CAP),
        pass_ttl: Duration::from_secs(3),
        pass_max: Duration::ZERO,
        presence_ttl: Duration::ZERO,
        missed_turn_ttl: Duration::from_secs(10),
        waiting_max: 1_000,
        identity: Identity::Open,
    }
}
