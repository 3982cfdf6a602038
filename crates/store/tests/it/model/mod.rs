//! Random stories through core and the stores at once: the same answers after every step, and every
//! promise kept, through whatever can go wrong with each.

mod compared;
mod embedded_twin;
mod facts;
mod liar;
mod redis_twin;

use std::time::Duration;

use ropeline_core::{Identity, Policy, Was};
use ropeline_testing::{
    Persistence, TestCluster, TestRedis, TestSentinels,
    line::{Basis, Line, ORDINARY, Step, Story, Tally, stories, tell, try_together},
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

/// Redis ends passes that run out at the same instant in the order of their texts, core in that of their numbers. Where
/// one call does not end all of them, nobody may notice who was ended.
#[test]
fn it_is_not_seen_which_of_those_who_ran_out_together_was_ended_first() {
    let policy = Policy {
        every: Duration::from_secs(5),
        batch: Some(1),
        active_max: None,
        pass_ttl: Duration::from_secs(10),
        pass_max: Duration::ZERO,
        presence_ttl: Duration::ZERO,
        missed_turn_ttl: Duration::ZERO,
        waiting_max: 12,
        identity: Identity::Open,
    };
    let three_at_a_time = Policy {
        batch: Some(3),
        active_max: Some(4),
        ..policy.clone()
    };
    let steps = |stranger| {
        vec![
            Step::ChangePolicy {
                from: Basis::Current,
                to: three_at_a_time.clone(),
            },
            Step::Join(vec![0, 1]),
            Step::Advance(4_000),
            Step::Import(vec![(2, Was::Waiting)]),
            Step::Join(vec![3, 4, 13, 6, 12]),
            Step::Advance(9_000),
            Step::Renew(vec![0]),
            Step::ReuseKey(2),
            Step::RepeatKey,
            Step::Advance(20_000),
            Step::Revoke(6),
            Step::Advance(2_000),
            Step::Join(vec![0, 6, 1, 2]),
            Step::Advance(20_000),
            Step::Stranger(stranger),
        ]
    };
    let runtime = Runtime::new().unwrap();
    let redis = TestRedis::with(Persistence::None, &[]);
    for stranger in 0..48 {
        let story = Story {
            policy: policy.clone(),
            steps: steps(stranger),
        };
        let twin = RedisTwin::new(&runtime, &redis, policy.clone());
        let mut line = Compared::new(twin, policy.clone());
        let told = tell(&mut line, &story, &mut Tally::default());
        assert!(told.is_ok(), "{stranger}: {told:?}");
    }
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
