//! A node that is stopped for a long time in the middle of its work, and goes on as if nothing had happened.

use std::{thread, time::Duration};

use ropeline_testing::TestRedis;

use super::{cluster::Cluster, plan::Manners, policy, run::Scene, visitor::Fate};

#[test]
fn a_node_that_was_stopped_for_twenty_seconds_admits_nobody_twice() {
    let scene = Scene {
        policy: policy(),
        manners: Manners::mixed(400, Duration::from_secs(22)),
        over_after: Duration::from_secs(60),
    };
    let redis = TestRedis::start();
    let cluster = Cluster::sharing(&redis, &scene.policy, 2);
    let outcome = scene.play(&cluster, |crowd| {
        thread::sleep(Duration::from_millis(1_700));
        cluster.stop(0, &crowd.recorder, || {
            thread::sleep(Duration::from_secs(20));
        });
    });
    outcome.judge("paused");
    assert_eq!(outcome.count(Fate::Here), 0, "{:?}", outcome.fates);
    assert!(outcome.count(Fate::Through) > 250, "{:?}", outcome.fates);
}
