//! `kill -9` at any instant, in the middle of a rush.

use std::{
    sync::mpsc::{self, Sender},
    thread,
    time::Duration,
};

use ropeline_testing::history::{Op, Recorder, Turn};

use crate::{
    process::{Server, Site},
    recorded::{Connection, Hand, assert_kept, killed},
    still::{STILL_ROOM, still_policy},
    wait::any_of,
};

const ROUNDS: usize = 50;
const CONNECTIONS: usize = 64;
/// The kill comes so many milliseconds after the first acknowledged join of the round.
const KILL_AFTER_MS: std::ops::RangeInclusive<u64> = 5..=150;
/// Places that are looked at after each restart; at the end it is all of them.
const SAMPLE: usize = 200;
const READERS: usize = 8;

#[test]
fn every_acknowledged_place_is_where_it_was_after_fifty_kills() {
    let site = Site::new(STILL_ROOM);
    let recorder = Recorder::start(still_policy());
    let mut acknowledged = Vec::new();
    let mut slowest_start = Duration::ZERO;
    for round in 1..=ROUNDS {
        let server = start(&site, &recorder, round);
        slowest_start = slowest_start.max(server.ready_after);
        look_for(&recorder, &server, &mut sample(&acknowledged));
        acknowledged.extend(rush_until_killed(server, &recorder, round));
    }
    let server = start(&site, &recorder, ROUNDS + 1);
    let drained_at = recorder.now();
    look_for(&recorder, &server, &mut acknowledged);
    let mut last = Connection::open(&recorder, server.address(), 0).expect("it is ready");
    // Whoever was looked for before the second in line, who still waits, has them ahead.
    acknowledged.sort_by_key(|hand| hand.ordinal);
    for hand in acknowledged.iter_mut().take(2) {
        last.ask(Op::Poll, hand).expect("an answer");
    }
    last.audit_in_calm(&site.admin_key());
    let took = recorder.now();
    assert_kept(&recorder.finish(Some(drained_at)));
    println!(
        "{ROUNDS} kills: {} joins acknowledged; slowest start {slowest_start:?}; {took:.1?} in all",
        acknowledged.len()
    );
}

fn start(site: &Site, recorder: &Recorder, round: usize) -> Server {
    let server = site.start();
    if round > 1 {
        killed(recorder, Turn::Off);
    }
    server
}

/// Joins on all connections at once until the server is killed in the midst.
fn rush_until_killed(server: Server, recorder: &Recorder, round: usize) -> Vec<Hand> {
    let address = server.address();
    let (first, acknowledged) = mpsc::channel();
    // The server belongs to the closure: if that panics, the joins end with the server.
    thread::scope(move |scope| {
        let crowd: Vec<_> = (1..=CONNECTIONS)
            .map(|number| {
                let first = first.clone();
                let name = format!("{round}-{number}");
                scope.spawn(move || {
                    let connection = Connection::open(recorder, address, number);
                    let joined = connection.map(|client| join_on_and_on(client, &name, &first));
                    joined.unwrap_or_default()
                })
            })
            .collect();
        let patience = Duration::from_secs(10);
        acknowledged
            .recv_timeout(patience)
            .expect("a join is acknowledged");
        thread::sleep(Duration::from_millis(any_of(KILL_AFTER_MS)));
        killed(recorder, Turn::On);
        server.kill();
        let joined = crowd.into_iter().flat_map(|connection| {
            let joined = connection.join();
            joined.expect("a connection that is cut")
        });
        joined.collect()
    })
}

/// One connection's joins, each of a new user, until the connection is cut.
fn join_on_and_on(mut connection: Connection<'_>, name: &str, first: &Sender<()>) -> Vec<Hand> {
    let mut joined = Vec::new();
    loop {
        let mut hand = Hand {
            user: format!("{name}-{}", joined.len()),
            ..Hand::default()
        };
        let Ok(record) = connection.ask(Op::Join, &mut hand) else {
            return joined;
        };
        assert_eq!(record.status, Some(201), "{record:?}");
        joined.push(hand);
        // Nobody listens once the first has been heard of.
        first.send(()).ok();
    }
}

/// Some of these, or all if they are few.
fn sample(joined: &[Hand]) -> Vec<Hand> {
    if joined.len() <= SAMPLE {
        return joined.to_vec();
    }
    let start = any_of(0..=joined.len() as u64);
    let step = joined.len() / SAMPLE;
    let from_there = joined
        .iter()
        .cycle()
        .skip(usize::try_from(start).expect("an index"));
    from_there.step_by(step).take(SAMPLE).cloned().collect()
}

/// Asks where each of these is now.
fn look_for(recorder: &Recorder, server: &Server, joined: &mut [Hand]) {
    let share = joined.len().div_ceil(READERS).max(1);
    thread::scope(|scope| {
        for hands in joined.chunks_mut(share) {
            scope.spawn(move || {
                let connection = Connection::open(recorder, server.address(), 0);
                let mut connection = connection.expect("a server that is ready");
                for hand in hands {
                    connection.ask(Op::Poll, hand).expect("an answer");
                }
            });
        }
    });
}
