//! Seed after seed, for as long as told; `./faults` runs it.

use std::time::Duration;

use super::{
    fault::Topology,
    run::Run,
    schedule::Schedule,
    table::{Row, write},
};
use crate::{nodes::run::counts, wait::Stopwatch};

/// What is not named is tried in turn.
const TOPOLOGIES: [Topology; 3] = [Topology::Standalone, Topology::Sentinel, Topology::Cluster];

#[test]
#[ignore = "runs for as long as ./faults says, and writes docs/FAULTS.md"]
fn no_composition_of_faults_breaks_a_rule() {
    let minutes = number("ROPELINE_FAULTS_MINUTES").unwrap_or(10);
    let first = number("ROPELINE_FAULTS_SEED").unwrap_or(1);
    let mut rows: Vec<_> = chosen().into_iter().map(Row::new).collect();
    let watch = Stopwatch::start();
    for seed in first.. {
        for at in 0..rows.len() {
            let run = Run::of(Schedule::draw(seed, rows[at].topology));
            println!("{}", line(&run));
            rows[at].add(&run);
            write(&rows);
            assert!(run.violations.is_empty(), "{}", run.story);
            if watch.elapsed() > Duration::from_secs(60 * minutes) {
                return;
            }
        }
    }
}

fn chosen() -> Vec<Topology> {
    let store = variable("ROPELINE_FAULTS_STORE");
    let named = |topology: &Topology| store.as_ref().is_none_or(|it| *it == topology.to_string());
    let chosen: Vec<_> = TOPOLOGIES.into_iter().filter(named).collect();
    assert!(!chosen.is_empty(), "no store is called {store:?}");
    chosen
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

fn number(name: &str) -> Option<u64> {
    let text = variable(name)?;
    let number = text.parse();
    Some(number.unwrap_or_else(|_| panic!("{name} is not a number: {text}")))
}

#[expect(
    clippy::disallowed_methods,
    reason = "a script tells this test what to do"
)]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}
