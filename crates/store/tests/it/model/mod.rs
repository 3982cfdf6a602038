//! Random stories through core and the stores at once: the same answers after every step, and every
//! promise kept, through whatever can go wrong with each.

mod compared;
mod embedded_twin;
mod facts;
mod liar;
mod redis_twin;

use ropeline_testing::{
    Persistence, TestCluster, TestRedis, TestSentinels,
    line::{Line, ORDINARY, Story, Tally, stories, try_together},
};
use tokio::runtime::Runtime;

use compared::Compared;
use embedded_twin::EmbeddedTwin;
use redis_twin::RedisTwin;

use crate::backing::Backing;

/// Commands that a run must compare at the least.
const COMMANDS_MIN: u64 = 10_000;

#[test]
fn every_store_answers_as_core_does_and_keeps_its_promises() {
    let runtime = Runtime::new().unwrap();
    let redis = TestRedis::with(Persistence::None, &[]);
    let lines = |story: &Story| -> Vec<Box<dyn Line + '_>> {
        let policy = || story.policy.clone();
        let embedded = EmbeddedTwin::new(&runtime, policy());
        let redis = RedisTwin::new(&runtime, &redis, policy());
        vec![
            Box::new(Compared::new(embedded, policy())),
            Box::new(Compared::new(redis, policy())),
        ]
    };
    let tallies = try_together(200, stories(160, 60), lines);
    for (name, tally) in ["embedded", "Redis"].iter().zip(&tallies) {
        println!("{name}");
        judge(tally);
    }
    let lossy = [
        ("join", "held"),
        ("join", "more to settle"),
        ("settle", "more to settle"),
    ];
    assert_eq!(tallies[1].missing(&lossy), []);
}

#[test]
fn redis_behind_sentinels_answers_as_core_does() {
    try_on(&TestSentinels::start());
}

#[test]
fn a_cluster_answers_as_core_does() {
    try_on(&TestCluster::start());
}

fn try_on(redis: &impl Backing) {
    let runtime = Runtime::new().unwrap();
    let lines = |story: &Story| -> Vec<Box<dyn Line + '_>> {
        let twin = RedisTwin::new(&runtime, redis, story.policy.clone());
        vec![Box::new(Compared::new(twin, story.policy.clone()))]
    };
    judge(&try_together(200, stories(160, 60), lines)[0]);
}

fn judge(tally: &Tally) {
    println!("{tally}");
    assert_eq!(tally.missing(ORDINARY), []);
    assert_eq!(tally.missing(&[("suffer", "survived")]), []);
    assert!(tally.commands() >= COMMANDS_MIN, "{}", tally.commands());
}
