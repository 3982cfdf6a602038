//! The box office as a service of its own, as load balancers, attackers and programmers meet it.

use std::{net::SocketAddr, time::Duration};

use ropeline_testing::{
    Persistence, TestPostgres, TestRedis,
    http::{Ask, Client, Reply},
};
use serde_json::{Value, json};

use super::{ALL_INSIDE, SERVICE_KEY};
use crate::{
    process::{Server, Site},
    wait::{Stopwatch, until},
};

/// Whoever forwards for others is on this machine.
const BEHIND_A_PROXY: &str = "\
trusted_proxies = [\"127.0.0.0/8\"]
rate_limits = { joins_per_minute = 5, admin_failures_per_minute = 7 }
[boxoffice]
";
/// Without a box office next to it, which would need a `--database` on Redis.
const ROOM: &str = "[rooms.main]\nactive_max = 1000\npresence_ttl = \"0s\"\n";
/// More than any limit here.
const TRIES_MAX: usize = 50;
/// Within this an outage is noticed, and its end.
const NOTICE_MAX: Duration = Duration::from_secs(15);
/// An answer that waited for what is unavailable would take longer.
const AT_ONCE: Duration = Duration::from_millis(500);

/// A room, and a box office that asks it over HTTP.
struct Apart {
    rooms: Site,
    office: Site,
}

impl Apart {
    fn new(settings: &str) -> Self {
        let site = || Site::new(settings).with_flag("--service-key", SERVICE_KEY);
        Self {
            rooms: site(),
            office: site(),
        }
    }

    fn sell(&self) -> Server {
        let gate = format!("http://{}", self.rooms.address());
        self.office.start_as(&format!("boxoffice --gate {gate}"))
    }
}

fn answers(at: SocketAddr, ask: &Ask, wanted: u16) -> usize {
    let mut client = Client::connect(at).expect("it is ready");
    let replies = (0..TRIES_MAX).map(|_| client.send(ask));
    replies
        .take_while(|reply| {
            let limited = (reply.status, reply.code()) == (429, "RATE_LIMITED".into());
            assert!(limited || reply.status == wanted, "{}", reply.json());
            !limited
        })
        .count()
}

/// How many wrong admin keys an address may show.
fn wrong_keys(at: SocketAddr) -> usize {
    let guess = Ask::post("/api/v1/admin/concerts").json(&json!({"title": "Mine"}));
    let guess = guess.header("X-Forwarded-For", "198.51.100.7");
    answers(at, &guess.header("Authorization", "Bearer a-guess"), 401)
}

/// How many users an address may make.
fn users(at: SocketAddr, address: &str) -> usize {
    let user = Ask::post("/user").json(&json!({"name": "Kim"}));
    answers(at, &user.header("X-Forwarded-For", address), 201)
}

#[test]
fn it_counts_wrong_keys_and_users_as_the_server_of_the_rooms_does() {
    let apart = Apart::new(BEHIND_A_PROXY);
    let (room, office) = (apart.rooms.start(), apart.sell());
    for server in [&room, &office] {
        let at = server.address();
        assert_eq!(wrong_keys(at), 7);
        assert_eq!(users(at, "198.51.100.7"), 5);
        assert_eq!(users(at, "198.51.100.8"), 5, "each address by itself");
    }
}

fn readiness(office: &Server) -> Reply {
    let mut client = office.client();
    let watch = Stopwatch::start();
    let reply = client.send(&Ask::get("/readyz"));
    assert!(watch.elapsed() < AT_ONCE, "it was not probed for the asker");
    reply
}

/// Waits until it says that these are unavailable, and nothing else.
fn unavailable(office: &Server, parts: &[&str]) {
    let status = if parts.is_empty() { 200 } else { 503 };
    until(NOTICE_MAX, &format!("{parts:?}"), || {
        let reply = readiness(office);
        let told = reply.json();
        let told = told["degraded"].as_array().expect("a list");
        let told: Vec<&Value> = told.iter().map(|it| &it["part"]).collect();
        (reply.status == status && told == parts).then_some(())
    });
}

#[test]
fn it_is_not_ready_while_its_database_is_stopped_and_ready_again_by_itself() {
    let mut database = TestPostgres::start();
    let Apart { rooms, office } = Apart::new(ALL_INSIDE);
    let url = database.url("postgres");
    let apart = Apart {
        rooms,
        office: office.with_flag("--database", &url),
    };
    let (_room, office) = (apart.rooms.start(), apart.sell());
    database.stop();
    unavailable(&office, &["database"]);
    let alive = office.client().send(&Ask::get("/healthz"));
    assert_eq!(alive.status, 200);
    database.start_again();
    unavailable(&office, &[]);
    assert_eq!(users(office.address(), "198.51.100.7"), TRIES_MAX);
}

#[test]
fn it_is_not_ready_while_its_room_is_stopped_and_ready_again_by_itself() {
    let apart = Apart::new(ALL_INSIDE);
    let (room, office) = (apart.rooms.start(), apart.sell());
    room.kill();
    unavailable(&office, &["room"]);
    let room = apart.rooms.start();
    unavailable(&office, &[]);
    room.freeze();
    unavailable(&office, &["room"]);
    room.thaw();
    unavailable(&office, &[]);
    let log = office.stderr();
    let lines = |text: &str| log.lines().filter(|line| line.contains(text)).count();
    assert_eq!(lines("not ready: this part is unavailable"), 2, "{log}");
    assert_eq!(lines("this part is available again"), 2, "{log}");
}

#[test]
fn it_is_not_ready_while_the_redis_of_its_room_is_stopped_and_ready_again_by_itself() {
    let mut redis = TestRedis::with(Persistence::None, &[]);
    let Apart { rooms, office } = Apart::new(ROOM);
    let rooms = rooms.with_flag("--store", &redis.url());
    let apart = Apart { rooms, office };
    let (room, office) = (apart.rooms.start(), apart.sell());
    let gate_answers = || {
        let metrics = room.client().send(&Ask::get("/metrics")).body;
        let metrics = String::from_utf8(metrics).expect("metrics are text");
        let asked = |line: &&str| line.starts_with("ropeline_gate_answers_total");
        metrics
            .lines()
            .filter(asked)
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    unavailable(&office, &[]);
    let asked_at_start = gate_answers();
    redis.kill();
    unavailable(&office, &["room"]);
    let alive = office.client().send(&Ask::get("/healthz"));
    assert_eq!(alive.status, 200);
    redis.start_again();
    unavailable(&office, &[]);
    assert_eq!(
        gate_answers(),
        asked_at_start,
        "a probe is no question of the gate"
    );
}

#[test]
fn it_explains_its_codes_and_its_api() {
    let apart = Apart::new(ALL_INSIDE);
    let (_room, office) = (apart.rooms.start(), apart.sell());
    let mut client = office.client();
    for code in [
        "seat-taken",
        "not-admitted",
        "rate-limited",
        "login-invalid",
    ] {
        let explained = client.send(&Ask::get(&format!("/problems/{code}")));
        assert_eq!(explained.status, 200, "{code}");
    }
    let docs = client.send(&Ask::get("/docs/"));
    assert_eq!(docs.status, 200);
    let described = client.send(&Ask::get("/openapi.json")).json();
    for path in ["/user", "/readyz", "/problems/{code}"] {
        assert!(described["paths"][path].is_object(), "{path}");
    }
}
