//! A disk that is full: those who wait go on waiting, nobody new is promised anything.

use std::{collections::BTreeMap, time::Duration};

use ropeline_testing::http::{Ask, Client, Reply};

use crate::{
    process::{Server, Site},
    still::{STILL_ROOM, place_of},
    visitor::{Place, join, status, token, verify},
    wait::{Stopwatch, until},
};

const DISK_BYTES: usize = 16 << 20;
/// The file has free pages of its own, which take some more joins; not more than this many.
const FIT_MAX: usize = 2_000;
/// The store tries four times a second to write again.
const FULL_FOR: Duration = Duration::from_millis(1500);
const BACK_WITHIN: Duration = Duration::from_secs(5);

/// The acknowledged places: ordinal and token.
#[derive(Default)]
struct Line {
    places: BTreeMap<u64, String>,
    asked: usize,
}

impl Line {
    /// Joins as somebody new, with a name as long as may be.
    fn join(&mut self, client: &mut Client) -> Reply {
        self.asked += 1;
        let reply = client.send(&join(&format!("{:0>128}", self.asked)));
        if reply.status == 201 {
            let place = Place::of(&reply).expect("a join is answered with a place");
            let before = self.places.insert(place.ordinal, token(&reply));
            assert_eq!(before, None, "{} was given twice", place.ordinal);
        }
        reply
    }

    #[track_caller]
    fn check(&self, client: &mut Client) {
        for (ordinal, token) in &self.places {
            let reply = client.send(&status(token));
            assert_eq!(reply.status, 200, "{}", reply.json());
            assert_eq!(Place::of(&reply), Some(place_of(*ordinal)));
        }
    }
}

/// A server with twenty in line and a full disk that it has noticed, and how many more joins that took.
fn full(site: &Site, line: &mut Line) -> (Server, usize) {
    let server = site.start();
    let mut client = server.client();
    for _ in 0..20 {
        assert_eq!(line.join(&mut client).status, 201);
    }
    site.small_disk().fill();
    let fit = (0..FIT_MAX).take_while(|_| line.join(&mut client).status == 201);
    let fit = fit.count();
    (server, fit)
}

#[track_caller]
fn assert_refused(reply: &Reply) {
    assert_eq!(
        (reply.status, reply.code().as_str()),
        (503, "STORE_UNAVAILABLE"),
        "{}",
        reply.json()
    );
    let retry_after = reply
        .header("retry-after")
        .and_then(|text| text.parse().ok());
    assert!(retry_after.is_some_and(|seconds: u32| seconds >= 1));
}

fn readiness(client: &mut Client) -> (u16, String) {
    let reply = client.send(&Ask::get("/readyz"));
    let status = reply.json()["status"].as_str().map(str::to_owned);
    (reply.status, status.unwrap_or_default())
}

fn await_recovery(line: &mut Line, client: &mut Client) -> Duration {
    let watch = Stopwatch::start();
    until(BACK_WITHIN, "joins are taken again", || {
        let reply = line.join(client);
        if reply.status != 201 {
            assert_refused(&reply);
        }
        (reply.status == 201).then(|| watch.elapsed())
    })
}

#[test]
fn while_the_disk_is_full_joins_are_refused_and_the_line_stands() {
    let site = Site::on_small_disk(STILL_ROOM, DISK_BYTES);
    let mut line = Line::default();
    let (mut server, _) = full(&site, &mut line);
    let mut client = server.client();
    let watch = Stopwatch::start();
    while watch.elapsed() < FULL_FOR {
        assert_refused(&line.join(&mut client));
        line.check(&mut client);
        assert_eq!(readiness(&mut client), (200, "degraded".to_owned()));
    }
    assert_eq!(server.ended(), None);
}

#[test]
fn while_the_disk_is_full_a_pass_goes_on_opening_the_gate() {
    let site = Site::on_small_disk(STILL_ROOM, DISK_BYTES);
    let mut line = Line::default();
    let (server, _) = full(&site, &mut line);
    let mut client = server.client();
    let watch = Stopwatch::start();
    while watch.elapsed() < FULL_FOR {
        let reply = client.send(&Ask::get("/api/v1/queue/verify").token(&line.places[&1]));
        assert_eq!(
            reply.status,
            204,
            "{}",
            String::from_utf8_lossy(&reply.body)
        );
    }
    assert_eq!(readiness(&mut client), (200, "degraded".to_owned()));
}

#[test]
fn while_the_disk_is_full_an_open_gate_lets_everybody_through_and_says_so_once() {
    let settings = format!("on_store_error = 'open'\n{STILL_ROOM}");
    let site = Site::on_small_disk(&settings, DISK_BYTES);
    let mut line = Line::default();
    let (server, _) = full(&site, &mut line);
    let mut client = server.client();
    let waits = verify(&line.places[&20]);
    let watch = Stopwatch::start();
    while watch.elapsed() < FULL_FOR {
        for ask in [&waits, &Ask::get("/api/v1/queue/verify")] {
            assert_eq!(client.send(ask).status, 204);
        }
        assert_refused(&line.join(&mut client));
    }
    assert_eq!(readiness(&mut client), (200, "degraded".to_owned()));
    site.small_disk().free();
    await_recovery(&mut line, &mut client);
    assert_eq!(client.send(&waits).status, 403);
    until(BACK_WITHIN, "the end is logged", || {
        let back = "the gate checks everybody again";
        server.stderr().contains(back).then_some(())
    });
    let said = server.stderr();
    let loud = "EVERYBODY IS LET THROUGH THE GATE";
    assert_eq!(said.matches(loud).count(), 1, "{said}");
}

#[test]
fn a_server_starts_on_a_full_disk_and_shows_the_line() {
    let site = Site::on_small_disk(STILL_ROOM, DISK_BYTES);
    let mut line = Line::default();
    let (server, _) = full(&site, &mut line);
    server.kill();
    let server = site.start();
    let mut client = server.client();
    line.check(&mut client);
    site.small_disk().free();
    await_recovery(&mut line, &mut client);
    line.check(&mut client);
}

#[test]
fn joins_work_again_by_themselves_once_there_is_space() {
    let site = Site::on_small_disk(STILL_ROOM, DISK_BYTES);
    let mut line = Line::default();
    let (server, fit) = full(&site, &mut line);
    let mut client = server.client();
    assert_refused(&line.join(&mut client));
    site.small_disk().free();
    let back_after = await_recovery(&mut line, &mut client);
    println!(
        "{fit} joins fitted into the file on a full disk; joins were back after {back_after:?}"
    );
    assert_eq!(readiness(&mut client), (200, "ready".to_owned()));
    line.check(&mut client);
    server.kill();
    line.check(&mut site.start().client());
}

#[test]
fn a_kill_while_the_disk_is_full_loses_nothing() {
    let site = Site::on_small_disk(STILL_ROOM, DISK_BYTES);
    let mut line = Line::default();
    for _ in 0..3 {
        let (server, _) = full(&site, &mut line);
        assert_refused(&line.join(&mut server.client()));
        server.kill();
        site.small_disk().free();
        let server = site.start();
        let mut client = server.client();
        line.check(&mut client);
        assert_eq!(line.join(&mut client).status, 201);
        line.check(&mut client);
    }
}
