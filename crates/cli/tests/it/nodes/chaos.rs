//! Nodes die, stop and come back at random.

use std::{thread, time::Duration};

use ropeline_testing::history::At;

use super::{cluster::Cluster, crowd::Crowd};
use crate::wait::any_of;

/// How long a node is left alone.
const UP_MS: std::ops::RangeInclusive<u64> = 500..=3_000;
/// How long it is away.
const AWAY_MS: std::ops::RangeInclusive<u64> = 100..=2_500;

/// Until a moment, each node on its own is killed or stopped, comes back, and is left alone for a while.
pub(crate) fn befall(cluster: &Cluster, crowd: &Crowd, until: At) {
    thread::scope(|scope| {
        for node in 0..cluster.len() {
            scope.spawn(move || befall_one(cluster, node, crowd, until));
        }
    });
}

fn befall_one(cluster: &Cluster, node: usize, crowd: &Crowd, until: At) {
    loop {
        thread::sleep(Duration::from_millis(any_of(UP_MS)));
        if crowd.recorder.now() >= until {
            return;
        }
        let away = || thread::sleep(Duration::from_millis(any_of(AWAY_MS)));
        match any_of(0..=1) {
            0 => cluster.kill(node, &crowd.recorder, away),
            _ => cluster.stop(node, &crowd.recorder, away),
        }
    }
}
