//! Nodes that do not share what they should: a run must not go well with them.

use std::collections::BTreeSet;

use ropeline_testing::history::Rule;

use super::{fault::Topology, run::Run, schedule::Schedule};

#[test]
fn nodes_that_share_nothing_are_caught() {
    let run = Run::of(Schedule::draw(1, Topology::Apart));
    let broken: BTreeSet<_> = run.violations.iter().map(|broken| broken.rule).collect();
    // Each line gives the same ordinals, and none knows the places of the others.
    let expected = BTreeSet::from([Rule::W1, Rule::W3]);
    assert!(broken.is_superset(&expected), "{broken:?}\n{}", run.story);
}
