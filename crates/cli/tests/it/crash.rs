//! `kill -9` at any instant, in the middle of a rush.

use std::{
    net::SocketAddr,
    sync::mpsc::{self, Sender},
    thread,
    time::Duration,
};

use ropeline_testing::http::{Client, Reply};

use crate::{
    history::{Join, STILL_ROOM, judge, misplaced},
    process::{Server, Site},
    visitor::{Place, join, status, token},
    wait::{Stopwatch, any_of},
};

const ROUNDS: usize = 50;
const CONNECTIONS: usize = 64;
/// The kill comes so many milliseconds after the first acknowledged join of the round.
const KILL_AFTER_MS: std::ops::RangeInclusive<u64> = 5..=150;
/// Places that are looked at after each restart; at the end it is all of them.
const SAMPLE: usize = 200;
const READERS: usize = 8;

/// What a round of joins came to.
#[derive(Default)]
struct Heard {
    acknowledged: Vec<Join>,
    /// Joins that were sent and not answered.
    unknown: u64,
}

#[test]
fn every_acknowledged_place_is_where_it_was_after_fifty_kills() {
    let site = Site::new(STILL_ROOM);
    let watch = Stopwatch::start();
    let mut heard = Heard::default();
    let mut slowest_start = Duration::ZERO;
    for round in 1..=ROUNDS {
        let server = site.start();
        slowest_start = slowest_start.max(server.ready_after);
        let sample = sample(&heard.acknowledged);
        let found = places(server.address(), &sample);
        assert_eq!(misplaced(&sample, &found), [], "before round {round}");
        heard.add(rush_until_killed(server, watch, round));
    }
    let server = site.start();
    let Heard {
        acknowledged,
        unknown,
    } = heard;
    let found = places(server.address(), &acknowledged);
    assert_eq!(judge(&acknowledged, &found), []);
    let issued = server.room(&site.admin_key())["issued"].as_u64().unwrap();
    let count = u64::try_from(acknowledged.len()).unwrap();
    assert!(
        (count..=count + unknown).contains(&issued),
        "{issued} ordinals for {count} joins and {unknown} without an answer"
    );
    println!(
        "{ROUNDS} kills: {count} joins acknowledged, {unknown} without an answer, {issued} ordinals; \
         slowest start {slowest_start:?}; {:.1} s in all",
        watch.elapsed().as_secs_f64()
    );
}

impl Heard {
    fn add(&mut self, other: Self) {
        self.acknowledged.extend(other.acknowledged);
        self.unknown += other.unknown;
    }
}

/// Joins on all connections at once until the server is killed in the midst.
fn rush_until_killed(server: Server, watch: Stopwatch, round: usize) -> Heard {
    let address = server.address();
    let (first, acknowledged) = mpsc::channel();
    // The server belongs to the closure: if that panics, the joins end with the server.
    thread::scope(move |scope| {
        let crowd: Vec<_> = (1..=CONNECTIONS)
            .map(|connection| {
                let first = first.clone();
                let name = format!("{round}-{connection}");
                scope.spawn(move || join_on_and_on(address, watch, &name, &first))
            })
            .collect();
        let patience = Duration::from_secs(10);
        acknowledged
            .recv_timeout(patience)
            .expect("a join is acknowledged");
        thread::sleep(Duration::from_millis(any_of(KILL_AFTER_MS)));
        server.kill();
        let mut heard = Heard::default();
        for connection in crowd {
            heard.add(connection.join().expect("a connection that is cut"));
        }
        heard
    })
}

/// One connection's joins, each of a new user, until the connection is cut.
fn join_on_and_on(address: SocketAddr, watch: Stopwatch, name: &str, first: &Sender<()>) -> Heard {
    let mut heard = Heard::default();
    let Ok(mut client) = Client::connect(address) else {
        return heard;
    };
    loop {
        let user = format!("{name}-{}", heard.acknowledged.len());
        let sent = watch.elapsed();
        let Ok(reply) = client.try_send(&join(&user)) else {
            heard.unknown += 1;
            return heard;
        };
        heard.acknowledged.push(acknowledged(&reply, sent, watch));
        // Nobody listens once the first has been heard of.
        first.send(()).ok();
    }
}

fn acknowledged(reply: &Reply, sent: Duration, watch: Stopwatch) -> Join {
    let answered = watch.elapsed();
    assert_eq!(reply.status, 201, "{}", reply.json());
    let place = Place::of(reply).expect("a join is answered with a place");
    Join {
        token: token(reply),
        ordinal: place.ordinal,
        sent,
        answered,
    }
}

/// Some of these, or all if they are few.
fn sample(joins: &[Join]) -> Vec<Join> {
    if joins.len() <= SAMPLE {
        return joins.to_vec();
    }
    let start = any_of(0..=joins.len() as u64);
    let step = joins.len() / SAMPLE;
    let from_there = joins
        .iter()
        .cycle()
        .skip(usize::try_from(start).expect("an index"));
    from_there.step_by(step).take(SAMPLE).cloned().collect()
}

/// Where each of these is now; `None` where the token is refused.
fn places(address: SocketAddr, joins: &[Join]) -> Vec<Option<Place>> {
    let share = joins.len().div_ceil(READERS).max(1);
    thread::scope(|scope| {
        let readers: Vec<_> = joins
            .chunks(share)
            .map(|joins| {
                scope.spawn(move || {
                    let mut client = Client::connect(address).expect("a server that is ready");
                    let mut place = |join: &Join| Place::of(&client.send(&status(&join.token)));
                    joins.iter().map(&mut place).collect::<Vec<_>>()
                })
            })
            .collect();
        let places = readers
            .into_iter()
            .map(|reader| reader.join().expect("an answer for each"));
        places.flatten().collect()
    })
}
