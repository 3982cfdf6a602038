//! One node that keeps the line in its own files, and dies and stops again and again.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use ropeline_testing::history::{Outcome, Record};

use super::{chaos::befall, cluster::Cluster, plan::Manners, policy, run::Scene, visitor};
use crate::liar::{self, Fate};

#[test]
fn one_node_keeps_every_promise_however_often_it_dies() {
    let scene = Scene {
        policy: policy(),
        manners: Manners::mixed(300, Duration::from_secs(4)),
        over_after: Duration::from_secs(60),
    };
    let cluster = Cluster::alone(&scene.policy);
    let outcome = scene.play(&cluster, |crowd| {
        befall(&cluster, crowd, Duration::from_secs(8));
    });
    outcome.judge("one-node");
    assert_eq!(outcome.count(visitor::Fate::Here), 0, "{:?}", outcome.fates);
    assert!(
        outcome.count(visitor::Fate::Through) > 200,
        "{:?}",
        outcome.fates
    );
}

#[test]
fn answers_that_are_lost_on_the_way_cost_nobody_anything() {
    let scene = Scene {
        policy: policy(),
        manners: Manners::mixed(150, Duration::from_secs(2)),
        over_after: Duration::from_secs(40),
    };
    let answers = Arc::new(AtomicU64::new(0));
    let lossy = |server| {
        let answers = Arc::clone(&answers);
        liar::before(server, move |_| {
            match answers.fetch_add(1, Ordering::Relaxed) % 12 {
                11 => Fate::Lost,
                _ => Fate::Arrives,
            }
        })
    };
    let cluster = Cluster::alone(&scene.policy).behind(lossy);
    let outcome = scene.play(&cluster, |_| {});
    outcome.judge("lost-answers");
    let unknown = |record: &&Record| record.outcome == Outcome::Unknown;
    let unknown = outcome.history.records.iter().filter(unknown).count();
    assert!(unknown > 50, "{unknown} answers were lost");
    assert!(
        outcome.count(visitor::Fate::Through) > 100,
        "{:?}",
        outcome.fates
    );
}
