//! Nodes that do not share what they should: two lines behind one address must not go unnoticed.

use std::{collections::BTreeSet, time::Duration};

use ropeline_testing::history::{Rule, check};

use super::{cluster::Cluster, plan::Manners, policy, run::Scene};

#[test]
fn two_nodes_without_a_store_between_them_are_caught() {
    let scene = Scene {
        policy: policy(),
        manners: Manners::mixed(100, Duration::from_secs(1)),
        over_after: Duration::from_secs(20),
    };
    let cluster = Cluster::apart(&scene.policy, 2);
    let outcome = scene.play(&cluster, |_| {});
    let broken: BTreeSet<_> = check(&outcome.history)
        .iter()
        .map(|violation| violation.rule)
        .collect();
    println!("two lines break {broken:?}");
    // Each line gives the same ordinals, and neither knows the places of the other.
    assert!(
        broken.is_superset(&BTreeSet::from([Rule::W1, Rule::W3])),
        "{broken:?}"
    );
}
