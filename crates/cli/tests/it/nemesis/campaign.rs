//! Seed after seed, for as long as told; `./faults` runs it.

use std::time::Duration;

use super::{fault::Topology, run::Run, schedule::Schedule};
use crate::{nodes::run::counts, wait::Stopwatch};

/// What is not named is tried in turn.
const TOPOLOGIES: [Topology; 3] = [Topology::Standalone, Topology::Sentinel, Topology::Cluster];

#[test]
#[ignore = "runs for as long as ./faults says"]
fn no_composition_of_faults_breaks_a_rule() {
    let minutes = variable("ROPELINE_FAULTS_MINUTES").and_then(|text| text.parse().ok());
    let seed = variable("ROPELINE_FAULTS_SEED").and_then(|text| text.parse().ok());
    let store = variable("ROPELINE_FAULTS_STORE");
    let chosen = |topology: &&Topology| store.as_ref().is_none_or(|it| *it == topology.to_string());
    let topologies: Vec<_> = TOPOLOGIES.iter().filter(chosen).collect();
    assert!(!topologies.is_empty(), "no store is called {store:?}");
    let lasts = Duration::from_secs(60 * minutes.unwrap_or(10));
    let watch = Stopwatch::start();
    for seed in seed.unwrap_or(1).. {
        for &&topology in &topologies {
            let run = Run::of(Schedule::draw(seed, topology));
            println!("{}", line(&run));
            assert!(run.violations.is_empty(), "{}", run.story);
            if watch.elapsed() > lasts {
                return;
            }
        }
    }
}

/// A run in one line.
fn line(run: &Run) -> String {
    let faults = run.schedule.faults.iter();
    let faults: Vec<_> = faults.map(|planned| planned.fault.to_string()).collect();
    format!(
        "seed {} on {}: {}; {} operations, violations {:?}",
        run.schedule.seed,
        run.schedule.topology,
        faults.join(" + "),
        run.operations,
        counts(&run.violations)
    )
}

#[expect(
    clippy::disallowed_methods,
    reason = "a script tells this test what to do"
)]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}
