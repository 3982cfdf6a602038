//! What stands in `[boxoffice]` reaches the box office.

use std::{
    fs::{self, File},
    process::Stdio,
    time::Duration,
};

use ropeline_testing::{free_port, http::Ask};
use serde_json::json;

use super::{SERVICE_KEY, SHIPPED, buyer::Buyer, says};
use crate::{
    process::{Leashed, Site},
    wait::until,
};

const PATIENCE: Duration = Duration::from_secs(10);

#[test]
fn a_database_of_the_file_is_where_the_books_are() {
    let site = Site::new(SHIPPED);
    let books = site.with_file("other.db", b"");
    site.configure(&format!(
        "database = 'sqlite:{}'\n{SHIPPED}",
        books.display()
    ));
    let server = site.start();
    Buyer::arrive(site.address());
    says(&server, "other.db");
    assert!(!site.data().join("boxoffice.db").exists());
}

#[test]
fn a_database_that_is_away_is_waited_for_and_its_password_not_told() {
    let port = free_port();
    let site = Site::new(SHIPPED);
    let url = format!("postgres://kim:hunter2@127.0.0.1:{port}/box");
    let site = site.with_flag("--database", &url);
    let log = site.with_file("log", b"");
    let mut serve = site.command("serve");
    serve.stdin(Stdio::null()).stdout(Stdio::null());
    serve.stderr(File::create(&log).expect("a file of the test's own"));
    let _server = Leashed(serve.spawn().expect("the binary that cargo has just built"));
    let said = until(PATIENCE, "it says what it waits for", || {
        let said = fs::read_to_string(&log).expect("a file of the test's own");
        said.contains("Connection refused").then_some(said)
    });
    assert!(
        said.contains(&format!("postgres://kim@127.0.0.1:{port}/box")),
        "{said}"
    );
    assert!(!said.contains("hunter2"), "{said}");
}

#[test]
fn a_settings_file_that_does_not_ask_for_a_box_office_gets_none() {
    for settings in [
        "",
        "[rooms.main]\nbatch = 1\n",
        "[boxoffice]\nenabled = false\n",
    ] {
        let site = Site::new(settings);
        let server = site.start();
        let mut client = server.client();
        assert_eq!(client.send(&Ask::post("/user")).status, 404, "{settings}");
        assert_eq!(client.send(&Ask::get("/")).status, 200);
        let joined = client.send(&Ask::post("/api/v1/queue/tokens").json(&json!({})));
        assert_eq!(joined.json()["seatsLeft"], json!(null), "{settings}");
        let printed = server.stdout() + &server.stderr();
        assert!(!printed.contains("box office"), "{printed}");
        assert!(!site.data().join("boxoffice.db").exists());
    }
}

#[test]
fn a_box_office_that_is_off_although_it_has_sold_before_is_warned_of() {
    let site = Site::new(SHIPPED);
    site.start().kill();
    site.configure("[rooms.main]\nbatch = 1\n");
    let log = site.start().stderr();
    assert!(
        log.contains("write [boxoffice] into the settings file"),
        "{log}"
    );
    let site = site.with_flag("--database", "sqlite:other.db");
    site.configure("");
    let log = site.start().stderr();
    assert!(
        log.contains("write [boxoffice] into the settings file"),
        "{log}"
    );
}

#[test]
fn seats_are_no_longer_shown_when_nothing_sells_for_the_room_any_more() {
    let elsewhere = "[boxoffice]\nroom = 'hall'\n[rooms.hall]\nbatch = 1\n";
    for (later, service_key, kept) in [
        ("", "", false),
        (elsewhere, "", false),
        ("", SERVICE_KEY, true),
    ] {
        let site = Site::new(SHIPPED).with_variable("ROPELINE_SERVICE_KEY", service_key);
        let server = site.start();
        let key = site.admin_key();
        let left = until(PATIENCE, "the room knows its seats", || {
            server.room(&key)["seatsLeft"].as_u64()
        });
        server.kill();
        site.configure(later);
        let seats = site.start().room(&key)["seatsLeft"].as_u64();
        assert_eq!(seats, kept.then_some(left), "{later} {service_key}");
    }
}

#[test]
fn buyers_come_through_the_room_that_is_named() {
    let site = Site::new("[boxoffice]\nroom = 'hall'\n[rooms.hall]\nactive_max = 5\n");
    let server = site.start();
    let mut client = server.client();
    let other = client.send(&Ask::post("/api/v1/queue/tokens").json(&json!({})));
    let token = other.json()["token"].as_str().map(str::to_owned);
    let token = token.expect("a place in the room main");
    let refused = client.send(&Ask::get("/concert/dates").token(&token));
    assert_eq!(
        (refused.status, refused.code()),
        (401, "TOKEN_INVALID".into())
    );
    assert_eq!(Buyer::arrive(site.address()).dates(), 3);
    drop(server);
    site.configure("[boxoffice]\nroom = 'nowhere'\n");
    let complaint = site.ropeline("serve").complaint(1);
    let told = "a room that is not there: nowhere";
    assert!(complaint.contains(told), "{complaint}");
}

#[test]
fn a_seat_is_held_for_hold_ttl_and_so_many_at_once() {
    let site = Site::new("[boxoffice]\nhold_ttl = '1s'\nholds_max = 2\n");
    let server = site.start();
    let mut client = server.client();
    let [buyer, other] = [(); 2].map(|()| Buyer::arrive(site.address()));
    let mut reserve = |buyer: &Buyer, seat: u32| {
        let ask = Ask::post(&format!("/concert/{seat}/reservation"));
        client.send(&ask.token(&buyer.token))
    };
    assert_eq!(reserve(&buyer, 1).status, 201);
    assert_eq!(reserve(&buyer, 2).status, 201);
    assert_eq!(reserve(&buyer, 3).code(), "HOLD_LIMIT");
    assert_eq!(reserve(&other, 1).code(), "SEAT_TAKEN");
    until(PATIENCE, "the hold ends", || {
        (reserve(&other, 1).status == 201).then_some(())
    });
}

#[test]
fn a_buyer_is_limited_as_the_file_says() {
    let site = Site::new(
        "[boxoffice]\nhold_ttl = '1s'\nholds_max = 9\ntickets_max = 2\nhold_cooldown = '1h'\nholds_per_minute = 3\n",
    );
    let server = site.start();
    let mut client = server.client();
    let buyer = Buyer::arrive(site.address());
    let mut reserve = |seat: u32| client.send(&buyer.reservation(seat.into()));
    assert_eq!(reserve(1).status, 201);
    assert_eq!(reserve(2).status, 201);
    assert_eq!(reserve(3).code(), "TICKET_LIMIT");
    until(PATIENCE, "both holds end", || {
        (buyer.reservations() == ["EXPIRED", "EXPIRED"]).then_some(())
    });
    assert_eq!(reserve(1).code(), "HOLD_COOLDOWN");
    assert_eq!(reserve(3).status, 201);
    assert_eq!(reserve(4).code(), "HOLD_RATE_LIMITED");
}

#[test]
fn a_seat_is_paid_late_as_the_file_says() {
    for (late_payment, paid) in [("60s", "PAID"), ("0s", "EXPIRED")] {
        let site = Site::new(&format!(
            "[boxoffice]\nhold_ttl = '1s'\nlate_payment = '{late_payment}'\n"
        ));
        let server = site.start();
        let buyer = Buyer::arrive(site.address());
        let held = buyer.hold(1);
        until(PATIENCE, "the hold ends", || {
            (buyer.reservations() == ["EXPIRED"]).then_some(())
        });
        let reply = server.client().send(&buyer.payment(held));
        assert_eq!(reply.status == 200, paid == "PAID", "{}", reply.json());
        assert_eq!(buyer.reservations(), [paid]);
    }
}
