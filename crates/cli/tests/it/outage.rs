//! A Redis that is away: those who wait go on waiting, nobody new is promised anything, and the gate does as
//! it was told.

use std::{fs, thread, time::Duration};

use ropeline_testing::{
    Persistence, TestRedis,
    http::{Ask, Client, Reply},
};
use serde_json::Value;

use crate::{
    process::{Server, Site},
    still::{STILL_ROOM, place_of},
    visitor::{Place, join, status, token_of, verify},
    wait::{Stopwatch, until},
};

/// Within this a server has noticed that Redis is away, and that it is back.
const NOTICE_MAX: Duration = Duration::from_secs(10);
/// A server that knows that Redis is away lets nobody wait for it.
const ANSWER_MAX: Duration = Duration::from_millis(500);
/// How often each thing is asked while Redis is away.
const ASKED: usize = 20;

/// How a Redis goes away and comes back.
#[derive(Debug, Clone, Copy)]
enum Fault {
    /// Nobody listens any more.
    Killed,
    /// Connections stay open, and nothing is answered.
    Frozen,
}

impl Fault {
    fn begin(self, redis: &mut TestRedis) {
        match self {
            Self::Killed => redis.kill(),
            Self::Frozen => redis.freeze(),
        }
    }

    fn end(self, redis: &mut TestRedis) {
        match self {
            Self::Killed => redis.start_again(),
            Self::Frozen => redis.thaw(),
        }
    }
}

/// A server on Redis with one inside and nineteen in line.
struct Story {
    redis: TestRedis,
    site: Site,
    server: Server,
    client: Client,
    tokens: Vec<String>,
}

impl Story {
    fn begin(settings: &str) -> Self {
        let redis = TestRedis::start();
        let site = Site::new(&format!(
            "store = '{}'\n{settings}{STILL_ROOM}",
            redis.url()
        ));
        let server = site.start();
        let mut client = server.client();
        let tokens = (1..=20)
            .map(|n| token_of(&mut client, &format!("user-{n}")))
            .collect();
        let mut story = Self {
            redis,
            site,
            server,
            client,
            tokens,
        };
        story.check_line();
        story
    }

    fn token(&self, ordinal: usize) -> String {
        self.tokens[ordinal - 1].clone()
    }

    /// Takes Redis away, and waits until the server says so.
    fn away(&mut self, fault: Fault) {
        fault.begin(&mut self.redis);
        until(NOTICE_MAX, "it is noticed", || {
            (readiness(&mut self.client)["status"] == "degraded").then_some(())
        });
    }

    /// Brings it back, and waits until somebody can join.
    fn back(&mut self, fault: Fault) {
        fault.end(&mut self.redis);
        let reply = until(NOTICE_MAX, "joins are taken again", || {
            let reply = self.client.send(&join("one-more"));
            (reply.status != 503).then_some(reply)
        });
        assert_eq!(reply.status, 201, "{}", reply.json());
        assert_eq!(reply.json()["ordinal"], 21);
    }

    /// Everybody is where they were.
    fn check_line(&mut self) {
        for (token, ordinal) in self.tokens.iter().zip(1..) {
            let reply = self.client.send(&status(token));
            assert_eq!(reply.status, 200, "{ordinal}: {}", reply.json());
            assert_eq!(Place::of(&reply), Some(place_of(ordinal)));
        }
    }

    fn unchecked(&mut self) -> u64 {
        let metrics = self.client.send(&Ask::get("/metrics"));
        let text = String::from_utf8(metrics.body).expect("text");
        let mut lines = text.lines();
        let count = lines.find_map(|line| line.strip_prefix("ropeline_gate_unchecked_total "));
        count.and_then(|count| count.parse().ok()).expect("counted")
    }
}

fn readiness(client: &mut Client) -> Value {
    let reply = client.send(&Ask::get("/readyz"));
    assert_eq!(reply.status, 200, "the waiting page must not be taken away");
    reply.json()
}

#[track_caller]
fn assert_refused(reply: &Reply) {
    let answered = (reply.status, reply.code());
    assert_eq!(answered, (503, "STORE_UNAVAILABLE".to_owned()));
    let retry = reply
        .header("retry-after")
        .and_then(|text| text.parse().ok());
    assert!(retry.is_some_and(|seconds: u32| (2..=5).contains(&seconds)));
}

#[test]
fn while_redis_is_away_joins_are_refused_and_the_line_is_shown_as_it_was() {
    for fault in [Fault::Killed, Fault::Frozen] {
        let mut story = Story::begin("");
        story.away(fault);
        let as_of = |reply: &Reply| reply.json()["asOf"].clone();
        let first = as_of(&story.client.send(&status(&story.token(9))));
        for _ in 0..ASKED {
            let watch = Stopwatch::start();
            assert_refused(&story.client.send(&join("new")));
            let reply = story.client.send(&status(&story.token(9)));
            assert_eq!(as_of(&reply), first, "{fault:?}: it says how old it is");
            assert!(
                watch.elapsed() < ANSWER_MAX,
                "{fault:?}: {:?}",
                watch.elapsed()
            );
        }
        story.check_line();
        story.back(fault);
        story.check_line();
        assert_eq!(readiness(&mut story.client)["status"], "ready");
        let now = as_of(&story.client.send(&status(&story.token(9))));
        assert_ne!(now, first, "{fault:?}: the picture is new again");
    }
}

#[test]
fn health_says_in_words_what_is_wrong_with_redis() {
    let mut story = Story::begin("on_store_error = 'open'\n");
    story.away(Fault::Killed);
    let said = story.site.ropeline("health").result();
    assert!(said.contains("is ready, but degraded: store: "), "{said}");
    assert!(said.contains("nobody listens at Redis's address"), "{said}");
    assert!(said.contains("gate: everybody is let through"), "{said}");
}

#[test]
fn a_closed_gate_refuses_while_redis_is_away() {
    for fault in [Fault::Killed, Fault::Frozen] {
        let mut story = Story::begin("");
        let [inside, waiting] = [1, 5].map(|ordinal| verify(&story.token(ordinal)));
        assert_eq!(story.client.send(&inside).status, 204);
        story.away(fault);
        for _ in 0..ASKED {
            assert_refused(&story.client.send(&inside));
            assert_eq!(story.client.send(&waiting).status, 403);
            assert_eq!(story.client.send(&verify("x")).status, 401);
        }
        assert_eq!(story.unchecked(), 0);
        story.back(fault);
        assert_eq!(story.client.send(&inside).status, 204);
    }
}

#[test]
fn an_open_gate_lets_everybody_through_while_redis_is_away_and_says_so_once() {
    let mut story = Story::begin("on_store_error = 'open'\n");
    let [inside, waiting] = [1, 5].map(|ordinal| verify(&story.token(ordinal)));
    assert_eq!(story.client.send(&waiting).status, 403);
    story.away(Fault::Killed);
    for _ in 0..ASKED {
        for ask in [&inside, &waiting, &verify("x")] {
            assert_eq!(story.client.send(ask).status, 204);
        }
    }
    let user = |reply: Reply| reply.header("x-queue-user").map(str::to_owned);
    assert_eq!(user(story.client.send(&waiting)).as_deref(), Some("user-5"));
    assert_eq!(user(story.client.send(&verify("x"))), None);
    assert!(story.unchecked() >= 3 * ASKED as u64);
    story.back(Fault::Killed);
    assert_eq!(story.client.send(&waiting).status, 403);
    until(NOTICE_MAX, "the end is logged", || {
        let said = story.server.stderr();
        said.contains("the gate checks everybody again")
            .then_some(())
    });
    let said = story.server.stderr();
    let loud = "EVERYBODY IS LET THROUGH THE GATE";
    assert_eq!(said.matches(loud).count(), 1, "{said}");
}

#[test]
fn a_lease_lets_those_inside_go_on_for_a_while_and_nobody_new() {
    for fault in [Fault::Killed, Fault::Frozen] {
        let mut story = Story::begin("on_store_error = 'lease'\nlease_max = '6s'\n");
        let [inside, waiting] = [1, 5].map(|ordinal| verify(&story.token(ordinal)));
        let watch = Stopwatch::start();
        story.away(fault);
        let reply = story.client.send(&inside);
        assert_eq!(reply.status, 204, "{fault:?}: {:?}", watch.elapsed());
        assert_eq!(reply.header("x-queue-user"), Some("user-1"));
        assert_eq!(story.client.send(&waiting).status, 403);
        until(NOTICE_MAX, "the lease ends", || {
            let reply = story.client.send(&inside);
            (reply.status != 204).then(|| assert_refused(&reply))
        });
        assert!(
            watch.elapsed() < NOTICE_MAX,
            "{fault:?}: {:?}",
            watch.elapsed()
        );
        assert!(story.unchecked() > 0);
        story.back(fault);
        assert_eq!(story.client.send(&inside).status, 204);
    }
}

#[test]
fn a_redis_that_refuses_to_write_is_told_apart_from_one_that_is_away() {
    let mut story = Story::begin("");
    for (n, (faulty, sound, said)) in [
        (
            "CONFIG SET maxmemory 1mb",
            "CONFIG SET maxmemory 0",
            "Redis is out of memory: raise maxmemory",
        ),
        (
            "REPLICAOF 127.0.0.1 1",
            "REPLICAOF NO ONE",
            "this Redis is a replica and takes no writes",
        ),
        (
            "ACL SETUSER default -zadd",
            "ACL SETUSER default +@all",
            "the Redis user may not do what is needed",
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let command = |line: &str| {
            let words: Vec<_> = line.split(' ').collect();
            assert_eq!(story.redis.cli(&words), "OK", "{line}");
        };
        command(faulty);
        assert_refused(&story.client.send(&join("new")));
        let ready = readiness(&mut story.client);
        let reason = ready["degraded"][0]["reason"].as_str().unwrap_or_default();
        assert!(reason.contains(said), "{faulty}: {ready}");
        command(sound);
        until(NOTICE_MAX, "joins are taken again", || {
            let reply = story.client.send(&join(&format!("late-{n}")));
            (reply.status == 201).then_some(())
        });
        until(NOTICE_MAX, "all is well", || {
            (readiness(&mut story.client)["status"] == "ready").then_some(())
        });
        // By those who write, and perhaps by those who follow the room, but not by each who is refused.
        let log = story.server.stderr();
        assert!((1..=2).contains(&log.matches(said).count()), "{log}");
    }
}

#[test]
fn a_server_that_was_started_before_its_redis_serves_when_that_is_there() {
    let mut redis = TestRedis::start();
    let site = Site::new(&format!("store = '{}'\n{STILL_ROOM}", redis.url()));
    redis.kill();
    let log = site.data().with_file_name("stderr");
    let server = thread::scope(|scope| {
        let server = scope.spawn(|| site.start());
        until(NOTICE_MAX, "it waits", || {
            let said = fs::read_to_string(&log).unwrap_or_default();
            said.contains("waiting for the store").then_some(())
        });
        redis.start_again();
        server.join().expect("it is ready in the end")
    });
    token_of(&mut server.client(), "ann");
    let shown = server.stdout();
    let store = format!("store       redis://127.0.0.1:{}", redis.port());
    assert!(shown.contains(&store), "{shown}");
}

#[test]
fn what_redis_puts_at_risk_is_said_at_the_start() {
    let options = ["--maxmemory-policy", "allkeys-lru"];
    let redis = TestRedis::with(Persistence::None, &options);
    let site = Site::new(&format!("store = '{}'\n", redis.url()));
    let server = site.start();
    let said = server.stderr();
    assert!(said.contains("set maxmemory-policy noeviction"), "{said}");
    assert!(said.contains("set appendonly yes"), "{said}");
}
