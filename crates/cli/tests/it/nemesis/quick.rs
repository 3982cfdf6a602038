//! A few compositions in every test run. `./faults` runs as many as it is told to.

use super::{fault::Topology, run::Run, schedule::Schedule};

fn holds(topology: Topology, seed: u64) {
    let run = Run::of(Schedule::draw(seed, topology));
    assert!(run.violations.is_empty(), "{}", run.story);
}

/// Two nodes are killed and lose their data directories, and the functions are flushed meanwhile.
#[test]
fn nodes_that_lose_their_data_lose_nobody() {
    holds(Topology::Standalone, 9);
}

/// Redis is out of memory, and killed.
#[test]
fn a_full_redis_that_is_killed_loses_nobody() {
    holds(Topology::Standalone, 3);
}

/// The master and a node are killed, an operator orders a failover meanwhile, and another node is cut off with the master.
#[test]
fn a_failover_and_a_node_cut_off_with_the_master_lose_nobody() {
    holds(Topology::Sentinel, 100);
}

/// All is flushed, a node is killed, another one is cut off with the owner, and the owner starts empty.
#[test]
fn a_cluster_that_is_flushed_and_cut_in_two_loses_nobody() {
    holds(Topology::Cluster, 2000);
}
