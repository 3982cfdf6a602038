//! Three nodes on one Redis, each of which dies, stops and comes back again and again.

use std::time::Duration;

use ropeline_testing::TestRedis;

use super::{chaos::befall, cluster::Cluster, plan::Manners, policy, run::Scene, visitor::Fate};

#[test]
fn three_nodes_keep_every_promise_while_each_dies_and_stops() {
    let scene = Scene {
        policy: policy(),
        manners: Manners::mixed(300, Duration::from_secs(4)),
        over_after: Duration::from_secs(60),
    };
    play(&scene, Duration::from_secs(9));
}

#[test]
#[ignore = "takes two minutes"]
fn two_thousand_visitors_survive_a_minute_of_dying_nodes() {
    let scene = Scene {
        policy: policy(),
        manners: Manners::mixed(2_000, Duration::from_secs(20)),
        over_after: Duration::from_secs(180),
    };
    play(&scene, Duration::from_secs(60));
}

fn play(scene: &Scene, chaos_for: Duration) {
    let redis = TestRedis::start();
    let cluster = Cluster::sharing(&redis, &scene.policy, 3);
    let outcome = scene.play(&cluster, |crowd| befall(&cluster, crowd, chaos_for));
    outcome.judge("survive");
    assert_eq!(outcome.count(Fate::Here), 0, "{:?}", outcome.fates);
    let most = scene.manners.visitors * 2 / 3;
    assert!(outcome.count(Fate::Through) > most, "{:?}", outcome.fates);
}
