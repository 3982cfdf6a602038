//! Real nodes, a crowd before them, and what goes wrong meanwhile; judged by the record of every answer.

mod alone;
mod apart;
mod chaos;
pub(crate) mod cluster;
pub(crate) mod crowd;
mod lost;
mod paused;
pub(crate) mod plan;
mod redis_away;
pub(crate) mod run;
pub(crate) mod silent;
mod store;
mod survive;
pub(crate) mod visitor;

use std::time::Duration;

use ropeline_core::{Identity, Policy};

/// Forty a second come in, and forty are inside at the most; everything else is as short as it may be.
pub(crate) fn policy() -> Policy {
    Policy {
        every: Duration::from_millis(500),
        batch: Some(20),
        active_max: Some(40),
        pass_ttl: Duration::from_secs(3),
        pass_max: Duration::ZERO,
        presence_ttl: Duration::from_secs(4),
        missed_turn_ttl: Duration::from_secs(5),
        waiting_max: 100_000,
        identity: Identity::Open,
    }
}
