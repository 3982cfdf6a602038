//! Visitors who claim to have seen a newer picture than there is.

use std::{thread, time::Duration};

use ropeline_testing::{
    TestRedis,
    http::{Ask, Client},
};
use serde_json::Value;

use crate::{
    process::{Server, Site},
    still::STILL_ROOM,
    visitor::{join, status, token_of},
    wait::Stopwatch,
};

/// For how long visitors claim it.
const SPAN: Duration = Duration::from_secs(3);
const CONNECTIONS: usize = 8;
/// Redis is asked by the server alone, and for each token once a second. A command that a function calls counts,
/// too.
const COMMANDS_PER_REFRESH_MAX: u64 = 20;

fn commands(redis: &TestRedis) -> u64 {
    let told = redis.cli(&["info", "stats"]);
    let line = told
        .lines()
        .find_map(|line| line.strip_prefix("total_commands_processed:"));
    line.expect("Redis counts")
        .trim()
        .parse()
        .expect("a number")
}

/// How many commands Redis gets while one visitor polls as fast as possible on several connections.
fn commands_while_polling(redis: &TestRedis, server: &Server, poll: &Ask, answers: &[u16]) -> u64 {
    let before = commands(redis);
    let polls: usize = thread::scope(|threads| {
        let polling = || {
            let (mut client, started) = (server.client(), Stopwatch::start());
            let mut polls = 0;
            while started.elapsed() < SPAN {
                let status = client.send(poll).status;
                assert!(answers.contains(&status), "{status}");
                polls += 1;
            }
            polls
        };
        let threads: Vec<_> = (0..CONNECTIONS).map(|_| threads.spawn(polling)).collect();
        let polls = threads
            .into_iter()
            .map(|thread| thread.join().expect("no panic"));
        polls.sum()
    });
    assert!(polls >= CONNECTIONS, "{polls}");
    commands(redis) - before
}

#[test]
fn a_visitor_who_claims_to_have_seen_more_makes_redis_be_asked_once_a_second() {
    let redis = TestRedis::start();
    let site = Site::new(&format!("store = '{}'\n{STILL_ROOM}", redis.url()));
    let server = site.start();
    let mut client = server.client();
    let tokens = ["ann", "bob", "cid"].map(|user| token_of(&mut client, user));
    let poll = |version: u64| status(&tokens[2]).header("X-Queue-Version", &version.to_string());
    let version = client.send(&poll(0)).json()["version"]
        .as_u64()
        .expect("a version");

    let usual = commands_while_polling(&redis, &server, &poll(version), &[200]);
    let absurd = commands_while_polling(&redis, &server, &poll(u64::MAX), &[200]);
    let plausible = commands_while_polling(&redis, &server, &poll(version + 1_000), &[200]);
    let seconds = SPAN.as_secs() + 1;
    let further = COMMANDS_PER_REFRESH_MAX * seconds;
    assert!(absurd <= usual + further, "{absurd}, and {usual} otherwise");
    assert!(
        plausible <= usual + 2 * further,
        "{plausible}, and {usual} otherwise"
    );
}

fn health(client: &mut Client) -> Value {
    client.send(&Ask::get("/readyz")).json()["status"].clone()
}

#[test]
fn redis_is_asked_no_more_often_while_it_is_full() {
    let redis = TestRedis::start();
    let site = Site::new(&format!("store = '{}'\n{STILL_ROOM}", redis.url()));
    let server = site.start();
    let mut client = server.client();
    let tokens = ["ann", "bob"].map(|user| token_of(&mut client, user));
    let poll = |version: u64| status(&tokens[1]).header("X-Queue-Version", &version.to_string());
    let version = client.send(&poll(0)).json()["version"]
        .as_u64()
        .expect("a version");

    redis.cli(&["config", "set", "maxmemory", "1"]);
    assert_eq!(client.send(&join("cid")).status, 503);
    assert_eq!(health(&mut client), "degraded");
    let answers = [200, 503];
    let usual = commands_while_polling(&redis, &server, &poll(version), &answers);
    let plausible = commands_while_polling(&redis, &server, &poll(version + 1_000), &answers);
    assert_eq!(health(&mut client), "degraded", "it is still known");
    let further = COMMANDS_PER_REFRESH_MAX * (SPAN.as_secs() + 1);
    assert!(
        plausible <= usual + 2 * further,
        "{plausible}, and {usual} otherwise"
    );
}
