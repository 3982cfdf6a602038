//! Redis forgets under load: all of it, the last second, or whatever somebody flushes. Everybody who asks is back
//! at the old place, in the old order, and nobody who had gone is.

use std::{
    fs::{self, File},
    thread,
    time::Duration,
};

use ropeline_core::Policy;
use ropeline_testing::{Persistence, TestRedis, history::Recorder};

use super::{
    cluster::Cluster,
    plan::Manners,
    policy,
    run::{Outcome, Scene},
    store::{forgets, line_goes_on},
    visitor::Fate,
};

/// Into the rush, and while people are let in.
const FORGETS_AFTER: Duration = Duration::from_secs(4);

#[test]
fn a_redis_that_is_restarted_empty_gets_everybody_back() {
    briefly("empty", &mut TestRedis::start(), TestRedis::restart_empty);
}

#[test]
fn a_redis_that_is_killed_gets_everybody_back() {
    let mut redis = TestRedis::with(Persistence::EverySecond, &[]);
    briefly("killed", &mut redis, |redis| {
        redis.kill();
        redis.start_again();
    });
}

#[test]
fn a_redis_that_loses_its_last_second_gets_everybody_back() {
    let mut redis = TestRedis::with(Persistence::EverySecond, &[]);
    briefly("last-second", &mut redis, lose_the_last_second);
}

#[test]
fn a_redis_that_is_flushed_gets_everybody_back() {
    briefly("flushed", &mut TestRedis::start(), flushed);
}

#[test]
#[ignore = "takes three minutes"]
fn two_thousand_in_line_come_in_in_order_after_redis_was_restarted_empty() {
    to_the_end(
        "empty-full",
        &mut TestRedis::start(),
        TestRedis::restart_empty,
    );
}

#[test]
#[ignore = "takes three minutes"]
fn two_thousand_in_line_come_in_in_order_after_redis_lost_its_last_second() {
    let mut redis = TestRedis::with(Persistence::EverySecond, &[]);
    to_the_end("last-second-full", &mut redis, lose_the_last_second);
}

#[test]
#[ignore = "takes three minutes"]
fn two_thousand_in_line_come_in_in_order_after_redis_was_flushed() {
    to_the_end("flushed-full", &mut TestRedis::start(), flushed);
}

/// The machine loses power: what Redis had not yet made durable is gone.
fn lose_the_last_second(redis: &mut TestRedis) {
    let directory = redis.directory().join("appendonlydir");
    let files = fs::read_dir(directory).expect("Redis writes down what it does");
    let files = files.map(|file| file.expect("a file of Redis").path());
    let log = files
        .filter(|path| path.to_string_lossy().ends_with(".incr.aof"))
        .max();
    let log = log.expect("the file that Redis appends to");
    let durable = fs::metadata(&log).expect("it is there").len();
    thread::sleep(Duration::from_millis(900));
    redis.kill();
    let log = File::options().write(true).open(log);
    let cut = log.and_then(|log| log.set_len(durable));
    cut.expect("nobody has it open any more");
    redis.start_again();
}

fn flushed(redis: &mut TestRedis) {
    assert_eq!(redis.cli(&["FLUSHALL"]), "OK");
}

/// A small crowd; whoever is still in line a few seconds after the loss stays there.
fn briefly(name: &str, redis: &mut TestRedis, forget: fn(&mut TestRedis)) {
    let scene = Scene {
        policy: policy(),
        manners: Manners::mixed(300, Duration::from_secs(6)),
        over_after: Duration::from_secs(15),
    };
    let outcome = play(&scene, redis, |redis, recorder| {
        forgets(recorder, || forget(redis));
    });
    outcome.judge(name);
    assert!(outcome.count(Fate::Through) > 80, "{:?}", outcome.fates);
}

/// Two thousand, all of whom come in before the end.
fn to_the_end(name: &str, redis: &mut TestRedis, forget: fn(&mut TestRedis)) {
    let scene = Scene {
        policy: Policy {
            presence_ttl: Duration::from_secs(6),
            ..policy()
        },
        manners: Manners::mixed(2_000, Duration::from_secs(10)),
        over_after: Duration::from_secs(240),
    };
    let outcome = play(&scene, redis, |redis, recorder| {
        forgets(recorder, || forget(redis));
        line_goes_on(recorder);
    });
    outcome.judge(name);
    assert_eq!(outcome.count(Fate::Here), 0, "{:?}", outcome.fates);
    assert!(outcome.count(Fate::Through) > 1_300, "{:?}", outcome.fates);
}

fn play(
    scene: &Scene,
    redis: &mut TestRedis,
    trouble: impl FnOnce(&mut TestRedis, &Recorder) + Send,
) -> Outcome {
    let cluster = Cluster::sharing(redis, &scene.policy, 3);
    scene.play(&cluster, |crowd| {
        thread::sleep(FORGETS_AFTER);
        trouble(redis, &crowd.recorder);
    })
}
