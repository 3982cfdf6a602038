//! `kill -9` where five are inside at the most, and everybody comes and goes.

use std::{io, net::SocketAddr, thread, time::Duration};

use ropeline_core::Policy;
use ropeline_testing::history::{Op, Recorder, State, Turn};

use crate::{
    process::{Server, Site},
    recorded::{Connection, Hand, assert_kept, killed},
    still::still_policy,
    wait::any_of,
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
    hand: Hand,
    stage: Stage,
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

#[test]
fn the_cap_holds_and_nobody_who_left_is_back_after_fifteen_kills() {
    let site = Site::new(BANK_COUNTER);
    let recorder = Recorder::start(Policy {
        batch: None,
        active_max: Some(ACTIVE_MAX),
        ..still_policy()
    });
    let mut parties: Vec<Vec<Visitor>> = Vec::new();
    parties.resize_with(CONNECTIONS, Vec::new);
    let mut drained_at = recorder.now();
    for round in 0..=ROUNDS {
        let server = site.start();
        if round > 0 {
            killed(&recorder, Turn::Off);
        }
        drained_at = recorder.now();
        look_for_everybody(&recorder, server.address(), &mut parties);
        check_counter(&recorder, &server, &site.admin_key());
        if round < ROUNDS {
            come_and_go_until_killed(server, &recorder, &site.admin_key(), &mut parties);
        } else {
            let mut last = Connection::open(&recorder, server.address(), 0).expect("it is ready");
            last.audit_in_calm(&site.admin_key());
        }
    }
    let took = recorder.now();
    let history = recorder.finish(Some(drained_at));
    assert_kept(&history);
    let visitors: usize = parties.iter().map(Vec::len).sum();
    let opened = history
        .records
        .iter()
        .filter(|record| record.op == Op::Gate && record.state() == Some(State::Inside));
    let opened = opened.count();
    println!(
        "{ROUNDS} kills: {visitors} visitors, the gate opened {opened} times; {took:.1?} in all"
    );
    assert!(opened > ROUNDS, "too few to show anything: {opened}");
}

/// Asks for everybody, also for those who have left, while nobody moves.
fn look_for_everybody(recorder: &Recorder, server: SocketAddr, parties: &mut [Vec<Visitor>]) {
    thread::scope(|scope| {
        for party in parties {
            scope.spawn(move || {
                let connection = Connection::open(recorder, server, 0);
                let mut connection = connection.expect("a server that is ready");
                let placed = party
                    .iter_mut()
                    .filter(|visitor| visitor.hand.token.is_some());
                for visitor in placed {
                    connection
                        .ask(Op::Poll, &mut visitor.hand)
                        .expect("an answer");
                    connection
                        .ask(Op::Gate, &mut visitor.hand)
                        .expect("an answer");
                }
            });
        }
    });
}

/// While nobody moves, no counter is free and somebody waits.
fn check_counter(recorder: &Recorder, server: &Server, admin_key: &str) {
    let connection = Connection::open(recorder, server.address(), 0);
    let audit = connection.and_then(|mut connection| connection.audit(admin_key));
    let counts = audit.expect("an answer").counts.expect("the figures");
    let busy = counts.active == ACTIVE_MAX;
    assert!(busy || counts.waiting == 0, "{counts:?}");
}

impl Visitor {
    fn new(user: String) -> Self {
        let hand = Hand {
            user,
            ..Hand::default()
        };
        Self {
            hand,
            stage: Stage::Joining,
        }
    }

    /// The next thing that this visitor does.
    fn act(&mut self, connection: &mut Connection<'_>) -> io::Result<()> {
        match self.stage {
            Stage::Joining => {
                let joined = connection.ask(Op::Join, &mut self.hand)?;
                assert!(matches!(joined.status, Some(200 | 201)), "{joined:?}");
                self.stage = Stage::Placed;
                Ok(())
            }
            Stage::Placed => self.try_the_gate(connection),
            Stage::Leaving => self.leave(connection),
            Stage::Left => Ok(()),
        }
    }

    fn try_the_gate(&mut self, connection: &mut Connection<'_>) -> io::Result<()> {
        let answer = connection.ask(Op::Gate, &mut self.hand)?;
        let stays = match answer.state() {
            Some(State::Inside) => any_of(1..=2) == 1,
            _ => any_of(1..=8) > 1,
        };
        if stays {
            return Ok(());
        }
        self.leave(connection)
    }

    fn leave(&mut self, connection: &mut Connection<'_>) -> io::Result<()> {
        self.stage = Stage::Leaving;
        let answer = connection.ask(Op::Leave, &mut self.hand)?;
        assert_eq!(answer.status, Some(204));
        self.stage = Stage::Left;
        Ok(())
    }
}

fn come_and_go_until_killed(
    server: Server,
    recorder: &Recorder,
    admin_key: &str,
    parties: &mut [Vec<Visitor>],
) {
    let address = server.address();
    // The server belongs to the closure: if that panics, the visitors stop with the server.
    thread::scope(move |scope| {
        let numbered = parties.iter_mut().enumerate();
        let parties: Vec<_> = numbered
            .map(|(number, party)| {
                scope.spawn(move || {
                    if let Ok(connection) = Connection::open(recorder, address, number) {
                        come_and_go(connection, number, party);
                    }
                })
            })
            .collect();
        watch_the_cap(&server, recorder, admin_key);
        killed(recorder, Turn::On);
        server.kill();
        for party in parties {
            party.join().expect("a connection that is cut");
        }
    });
}

/// Looks at the number inside until a random moment.
fn watch_the_cap(server: &Server, recorder: &Recorder, admin_key: &str) {
    let until = recorder.now() + Duration::from_millis(any_of(KILL_AFTER_MS));
    let mut connection =
        Connection::open(recorder, server.address(), 0).expect("a server that is ready");
    while recorder.now() < until {
        connection.audit(admin_key).expect("an answer");
    }
}

/// A connection's visitors, one after the other, until the connection is cut.
fn come_and_go(mut connection: Connection<'_>, number: usize, party: &mut Vec<Visitor>) {
    loop {
        for visitor in party.iter_mut() {
            if visitor.act(&mut connection).is_err() {
                return;
            }
        }
        let here = party.iter().filter(|visitor| visitor.stage != Stage::Left);
        for _ in here.count()..VISITORS {
            party.push(Visitor::new(format!("{number}-{}", party.len())));
        }
    }
}
