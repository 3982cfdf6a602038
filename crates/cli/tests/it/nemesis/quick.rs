//! A few compositions in every test run. `./faults` runs as many as it is told to.

use super::{fault::Topology, run::Run, schedule::Schedule};

fn holds(topology: Topology, seed: u64) {
    let run = Run::of(Schedule::draw(seed, topology));
    assert!(run.violations.is_empty(), "{}", run.story);
}

/// All nodes but one are stopped, and then Redis, which keeps nothing, and the other node are killed.
#[test]
fn an_empty_redis_and_a_killed_node_lose_nobody() {
    holds(Topology::Standalone, 7);
}

/// Redis comes back empty twice, is flushed, and a node is cut off meanwhile.
#[test]
fn a_redis_that_forgets_again_and_again_loses_nobody() {
    holds(Topology::Standalone, 8);
}

/// The master is killed and comes back empty, and a failover goes back to a master that never followed.
#[test]
fn a_failover_back_to_a_master_that_never_followed_loses_nobody() {
    holds(Topology::Sentinel, 1);
}
