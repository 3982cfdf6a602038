//! Visitors who claim to have seen a newer picture than there is.

use std::{thread, time::Duration};

use ropeline_testing::{TestRedis, http::Ask};

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
/// The room is followed five times a second, and refreshed for one token once.
const COMMANDS_PER_SECOND_MAX: u64 = 120;
/// Each would be a refresh of eight commands.
const POLLS_WHILE_FULL: usize = 100;

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
fn commands_while_polling(redis: &TestRedis, server: &Server, poll: &Ask) -> u64 {
    let before = commands(redis);
    let polls: usize = thread::scope(|threads| {
        let polling = || {
            let (mut client, started) = (server.client(), Stopwatch::start());
            let mut polls = 0;
            while started.elapsed() < SPAN {
                assert_eq!(client.send(poll).status, 200);
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

    let usual = commands_while_polling(&redis, &server, &poll(version));
    let absurd = commands_while_polling(&redis, &server, &poll(u64::MAX));
    let plausible = commands_while_polling(&redis, &server, &poll(version + 1_000));
    let seconds = SPAN.as_secs() + 1;
    let further = COMMANDS_PER_REFRESH_MAX * seconds;
    assert!(absurd <= usual + further, "{absurd}, and {usual} otherwise");
    assert!(
        plausible <= usual + 2 * further,
        "{plausible}, and {usual} otherwise"
    );
}

/// Once the room's feed is refused a write as well, within two seconds, nothing is asked at all, so this is quick.
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
    let newer = poll(version + 1_000);

    redis.cli(&["config", "set", "maxmemory", "1"]);
    assert_eq!(client.send(&join("cid")).status, 503);
    let (before, watch) = (commands(&redis), Stopwatch::start());
    for _ in 0..POLLS_WHILE_FULL {
        client.send(&newer);
    }
    let asked = commands(&redis) - before;
    let seconds = watch.elapsed().as_secs() + 1;
    assert!(
        asked <= COMMANDS_PER_SECOND_MAX * seconds,
        "{asked} commands in {seconds} s"
    );
}
