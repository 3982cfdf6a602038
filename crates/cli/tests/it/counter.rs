//! `kill -9` where five are inside at the most, and everybody comes and goes.

use std::{collections::BTreeSet, io, net::SocketAddr, thread, time::Duration};

use ropeline_testing::http::{Ask, Client, Reply};

use crate::{
    process::{Server, Site},
    visitor::{Place, join, leave, status, token, verify},
    wait::{Stopwatch, any_of},
};

const ROUNDS: usize = 15;
const CONNECTIONS: usize = 16;
/// Visitors with a place that each connection keeps.
const VISITORS: usize = 4;
const ACTIVE_MAX: u64 = 5;
const BANK_COUNTER: &str = "\
[rooms.main]
active_max = 5
pass_ttl = \"30d\"
pass_max = \"0s\"
presence_ttl = \"0s\"
";
const KILL_AFTER_MS: std::ops::RangeInclusive<u64> = 5..=150;

/// A visitor, as far as their own browser knows.
struct Visitor {
    user: String,
    token: Option<String>,
    stage: Stage,
    /// The gate has let them through once.
    was_inside: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Has asked for a place and has no answer yet.
    Joining,
    /// Has a place.
    Placed,
    /// Has asked to leave and has no answer yet.
    Leaving,
    /// Has been told that they have left.
    Left,
}

/// Ordinals of those whom an audit found.
#[derive(Default)]
struct Census {
    inside: BTreeSet<u64>,
    waiting: BTreeSet<u64>,
    ended: usize,
}

#[test]
fn the_cap_holds_and_nobody_who_left_is_back_after_fifteen_kills() {
    let site = Site::new(BANK_COUNTER);
    let watch = Stopwatch::start();
    let mut parties: Vec<Vec<Visitor>> = Vec::new();
    parties.resize_with(CONNECTIONS, Vec::new);
    let mut ended = 0;
    for round in 0..=ROUNDS {
        let server = site.start();
        let census = audit(server.address(), &parties);
        census.check(&server, &site.admin_key());
        ended = census.ended;
        if round < ROUNDS {
            come_and_go_until_killed(server, &site.admin_key(), &mut parties);
        }
    }
    let visitors: usize = parties.iter().map(Vec::len).sum();
    let served = parties
        .iter()
        .flatten()
        .filter(|visitor| visitor.was_inside)
        .count();
    println!(
        "{ROUNDS} kills: {visitors} visitors, {served} of them seen inside, {ended} ended at the last count; \
         {:.1} s in all",
        watch.elapsed().as_secs_f64()
    );
    assert!(served > ROUNDS, "too few to show anything: {served}");
}

/// Asks for everybody while nobody moves.
fn audit(address: SocketAddr, parties: &[Vec<Visitor>]) -> Census {
    thread::scope(|scope| {
        let audits = parties.iter().map(|party| {
            scope.spawn(move || {
                let mut client = Client::connect(address).expect("a server that is ready");
                let mut census = Census::default();
                for visitor in party {
                    visitor.audit(&mut client, &mut census);
                }
                census
            })
        });
        let audits: Vec<_> = audits.collect();
        let mut whole = Census::default();
        for audit in audits {
            whole.add(audit.join().expect("an audit without a complaint"));
        }
        whole
    })
}

impl Census {
    fn add(&mut self, other: Self) {
        self.inside.extend(other.inside);
        self.waiting.extend(other.waiting);
        self.ended += other.ended;
    }

    /// What must hold of the whole room while nobody moves.
    fn check(&self, server: &Server, admin_key: &str) {
        let room = server.room(admin_key);
        let (active, waiting) = (room["active"].as_u64(), room["waiting"].as_u64());
        assert!(active <= Some(ACTIVE_MAX), "the cap: {room}");
        if waiting > Some(0) {
            assert_eq!(
                active,
                Some(ACTIVE_MAX),
                "a free counter and a line: {room}"
            );
        }
        assert!(
            Some(self.inside.len() as u64) <= active,
            "{:?} are inside: {room}",
            self.inside
        );
        if let (Some(last), Some(next)) = (self.inside.last(), self.waiting.first()) {
            assert!(last < next, "{last} is inside while {next} waits");
        }
    }
}

impl Visitor {
    fn new(user: String) -> Self {
        Self {
            user,
            token: None,
            stage: Stage::Joining,
            was_inside: false,
        }
    }

    /// What must hold of this visitor after a restart.
    fn audit(&self, client: &mut Client, census: &mut Census) {
        let Some(token) = &self.token else { return };
        let reply = client.send(&status(token));
        let Some(place) = Place::of(&reply) else {
            assert!(
                matches!(self.stage, Stage::Leaving | Stage::Left),
                "{} has lost a place: {}",
                self.user,
                reply.json()
            );
            self.check_ended(&reply);
            assert_eq!(client.send(&verify(token)).status, 401, "{}", self.user);
            census.ended += 1;
            return;
        };
        assert_ne!(self.stage, Stage::Left, "{} is back: {place:?}", self.user);
        match place.status.as_str() {
            "ACTIVE" => census.inside.insert(place.ordinal),
            "WAITING" => {
                assert!(!self.was_inside, "{} waits again: {place:?}", self.user);
                census.waiting.insert(place.ordinal)
            }
            status => panic!("{} is {status}", self.user),
        };
    }

    fn check_ended(&self, reply: &Reply) {
        let code = reply.code();
        match (reply.status, code.as_str()) {
            (401, "TOKEN_EXPIRED") => {}
            (404, "TOKEN_NOT_FOUND") if !self.was_inside => {}
            answer => panic!("{} has ended, but: {answer:?}", self.user),
        }
    }

    /// The next thing that this visitor does.
    fn act(&mut self, client: &mut Client) -> io::Result<()> {
        match (self.stage, self.token.clone()) {
            (Stage::Placed, Some(token)) => self.try_the_gate(client, &token),
            (Stage::Leaving, Some(token)) => self.leave(client, &token),
            (Stage::Left, _) => Ok(()),
            (_, _) => self.join(client),
        }
    }

    /// The same key each time, so that the place of an answer that was lost is found again.
    fn join(&mut self, client: &mut Client) -> io::Result<()> {
        let reply = client.try_send(&join(&self.user).header("Idempotency-Key", &self.user))?;
        assert!(matches!(reply.status, 200 | 201), "{}", reply.json());
        self.token = Some(token(&reply));
        self.stage = Stage::Placed;
        Ok(())
    }

    fn try_the_gate(&mut self, client: &mut Client, token: &str) -> io::Result<()> {
        let reply = client.try_send(&verify(token))?;
        let stays = match reply.status {
            204 => {
                self.was_inside = true;
                any_of(1..=2) == 1
            }
            403 => {
                assert!(!self.was_inside, "{} is out again", self.user);
                any_of(1..=8) > 1
            }
            _ => panic!("{}: {}", self.user, reply.json()),
        };
        if stays {
            return Ok(());
        }
        self.leave(client, token)
    }

    fn leave(&mut self, client: &mut Client, token: &str) -> io::Result<()> {
        self.stage = Stage::Leaving;
        let reply = client.try_send(&leave(token))?;
        assert_eq!(reply.status, 204);
        self.stage = Stage::Left;
        Ok(())
    }
}

fn come_and_go_until_killed(server: Server, admin_key: &str, parties: &mut [Vec<Visitor>]) {
    let address = server.address();
    // The server belongs to the closure: if that panics, the visitors stop with the server.
    thread::scope(move |scope| {
        let numbered = parties.iter_mut().enumerate();
        let parties: Vec<_> = numbered
            .map(|(number, party)| scope.spawn(move || come_and_go(address, number, party)))
            .collect();
        watch_the_cap(&server, admin_key);
        server.kill();
        for party in parties {
            party.join().expect("a connection that is cut");
        }
    });
}

/// Looks at the number inside until a random moment.
fn watch_the_cap(server: &Server, admin_key: &str) {
    let (watch, moment) = (
        Stopwatch::start(),
        Duration::from_millis(any_of(KILL_AFTER_MS)),
    );
    let ask = Ask::get("/api/v1/admin/rooms/main");
    let ask = ask.header("Authorization", &format!("Bearer {admin_key}"));
    let mut client = server.client();
    while watch.elapsed() < moment {
        let room = client.send(&ask).json();
        assert!(room["active"].as_u64() <= Some(ACTIVE_MAX), "{room}");
    }
}

/// A connection's visitors, one after the other, until the connection is cut.
fn come_and_go(address: SocketAddr, number: usize, party: &mut Vec<Visitor>) {
    let Ok(mut client) = Client::connect(address) else {
        return;
    };
    loop {
        for visitor in party.iter_mut() {
            if visitor.act(&mut client).is_err() {
                return;
            }
        }
        let here = party.iter().filter(|visitor| visitor.stage != Stage::Left);
        for _ in here.count()..VISITORS {
            party.push(Visitor::new(format!("{number}-{}", party.len())));
        }
    }
}
