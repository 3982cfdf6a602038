//! Redis is away for ten seconds: nobody new is promised anything, those who wait are told what was last known,
//! and everything goes on by itself.

use std::{ops::Range, sync::OnceLock, thread, time::Duration};

use ropeline_core::Policy;
use ropeline_testing::{
    TestRedis,
    history::{At, History, Kind, Op, Outcome, Record, State},
    http::Client,
};

use super::{cluster::Cluster, plan::Manners, policy, run::Scene, store::during, visitor::Fate};
use crate::visitor::join;

const AWAY: Duration = Duration::from_secs(10);
/// Nodes have noticed by then.
const NOTICED: Duration = Duration::from_secs(3);
/// And that it is back by then.
const BACK_WITHIN: Duration = Duration::from_secs(5);

#[test]
fn while_redis_is_frozen_nobody_is_promised_anything_and_everybody_is_told_what_was_known() {
    play("frozen", Kind::Stopped, |redis, meanwhile| {
        redis.freeze();
        meanwhile();
        redis.thaw();
    });
}

#[test]
fn while_redis_is_dead_nobody_is_promised_anything_and_everybody_is_told_what_was_known() {
    play("dead", Kind::Killed, |redis, meanwhile| {
        redis.kill();
        meanwhile();
        redis.start_again();
    });
}

fn play(name: &str, kind: Kind, away: fn(&mut TestRedis, &dyn Fn())) {
    // They come faster than they are let in.
    let scene = Scene {
        policy: Policy {
            batch: Some(10),
            ..policy()
        },
        manners: Manners::mixed(240, Duration::from_secs(8)),
        over_after: Duration::from_secs(60),
    };
    let mut redis = TestRedis::start();
    let cluster = Cluster::sharing(&redis, &scene.policy, 2);
    let node = cluster.addresses()[0];
    // What brings it back returns some time after nodes may have heard of it again.
    let away_until = OnceLock::new();
    let outcome = scene.play(&cluster, |crowd| {
        thread::sleep(Duration::from_secs(3));
        during(&crowd.recorder, kind, || {
            away(&mut redis, &|| {
                thread::sleep(NOTICED);
                assert_refused(&mut Client::connect(node).expect("the node is there"));
                thread::sleep(AWAY.saturating_sub(NOTICED));
                away_until
                    .set(crowd.recorder.now())
                    .expect("it is away once");
            });
        });
    });
    outcome.judge(name);
    assert_eq!(outcome.count(Fate::Here), 0, "{:?}", outcome.fates);
    let [began, ended] = [0, 1].map(|turn| outcome.history.faults[turn].at);
    let away_until = *away_until.get().expect("it was away");
    check_outage(&outcome.history, began + NOTICED..away_until);
    check_recovery(&outcome.history, ended..ended + BACK_WITHIN);
}

/// A join is refused for the time being, and told when to come back.
fn assert_refused(client: &mut Client) {
    let reply = client.send(&join("somebody-new"));
    assert_eq!(
        (reply.status, reply.code().as_str()),
        (503, "STORE_UNAVAILABLE"),
        "{}",
        reply.json()
    );
    let retry_after = reply
        .header("retry-after")
        .and_then(|text| text.parse().ok());
    assert!(
        retry_after.is_some_and(|seconds: u32| seconds >= 1),
        "{:?}",
        reply.headers
    );
}

fn between<'h>(history: &'h History, op: Op, span: &Range<At>) -> Vec<&'h Record> {
    let records = history.records.iter();
    let records = records.filter(|record| record.op == op);
    records
        .filter(|record| span.start <= record.t0 && record.t1 <= span.end)
        .collect()
}

fn check_outage(history: &History, outage: Range<At>) {
    let joins = between(history, Op::Join, &outage);
    assert!(joins.len() > 10, "{} joins", joins.len());
    let refused = |record: &&Record| record.outcome == Outcome::Unknown;
    assert!(
        joins.iter().all(refused),
        "a join was accepted without Redis"
    );
    let polls = between(history, Op::Poll, &outage);
    let waiting = polls
        .iter()
        .filter(|poll| poll.state() == Some(State::Waiting));
    let told: Vec<_> = waiting
        .filter_map(|poll| poll.told.as_ref()?.as_of)
        .collect();
    assert!(told.len() > 20, "{} were told where they are", told.len());
    let began = outage.start.saturating_sub(NOTICED);
    let latest = told.iter().max().copied().unwrap_or_default();
    assert!(
        latest <= began + Duration::from_millis(500),
        "known up to {latest:?}, away since {began:?}"
    );
}

fn check_recovery(history: &History, after: Range<At>) {
    let accepted = |record: &&&Record| record.outcome == Outcome::Ok;
    let joins = between(history, Op::Join, &after);
    let first = joins.iter().filter(accepted).map(|record| record.t1).min();
    assert!(
        first.is_some(),
        "no join was accepted within {BACK_WITHIN:?}"
    );
}
