//! The box office as a service of its own, which asks the room over HTTP.

use std::{fs, net::TcpListener, time::Duration};

use ropeline_testing::http::Ask;
use serde_json::{Value, json};

use super::{ONE_INSIDE, SERVICE_KEY, buyer::Buyer, says};
use crate::{process::Site, visitor::join, wait::until};

/// What has not happened by then never will.
const DONE_MAX: Duration = Duration::from_secs(10);

#[test]
fn a_box_office_of_its_own_sells_behind_a_room_elsewhere() {
    let site = || Site::new(ONE_INSIDE).with_flag("--service-key", SERVICE_KEY);
    let (rooms, books) = (site(), site());
    let room = rooms.start();
    let office = books.start_as(&format!("boxoffice --gate http://{}", room.address()));
    let first = Buyer::arrive(office.address());
    let second = Buyer::arrive(office.address());
    assert_eq!(first.place()["position"], 0);
    assert_eq!(second.place()["position"], 1);
    first.pay(first.hold(first.free_seat()));
    assert_eq!(
        second.place()["position"],
        0,
        "the next is let in by the payment"
    );
    assert_eq!(first.standing(room.address()), "TOKEN_EXPIRED");
}

#[test]
fn a_box_office_of_its_own_answers_for_its_own_hosts_only() {
    let hosts = "public_url = 'http://tickets.example'\nallowed_hosts = ['sale.internal']\n";
    let site = |settings: &str| {
        let settings = format!("{settings}{ONE_INSIDE}");
        Site::new(&settings).with_flag("--service-key", SERVICE_KEY)
    };
    let (rooms, books) = (site(""), site(hosts));
    let room = rooms.start();
    let office = books.start_as(&format!("boxoffice --gate http://{}", room.address()));
    let mut client = office.client();
    let mut status = |path: &str, host: &str| client.send(&Ask::get(path).host(host)).status;
    for host in ["tickets.example", "sale.internal:8080", "localhost"] {
        assert_eq!(status("/openapi.json", host), 200, "{host}");
    }
    assert_eq!(status("/openapi.json", "evil.example"), 421);
    assert_eq!(status("/healthz", "evil.example"), 200);
}

#[test]
fn a_box_office_with_another_key_than_the_room_does_not_start() {
    let room = Site::new(ONE_INSIDE).with_flag("--service-key", SERVICE_KEY);
    let server = room.start();
    let office =
        Site::new(ONE_INSIDE).with_flag("--service-key", "another-key-of-the-same-length-12345678");
    let said = office.ropeline(&format!("boxoffice --gate http://{}", server.address()));
    assert_ne!(said.code, Some(0));
    assert!(said.stderr.contains("service key"), "{}", said.stderr);
}

#[test]
fn a_box_office_of_its_own_says_where_to_join_and_refuses_while_the_room_is_away() {
    let site = || Site::new(ONE_INSIDE).with_flag("--service-key", SERVICE_KEY);
    let (rooms, books) = (site(), site());
    let room = rooms.start();
    let gate = format!("http://{}", room.address());
    let office = books.start_as(&format!("boxoffice --gate {gate}"));
    says(&office, &format!("main at {gate}"));
    says(&office, "boxoffice.db");
    let buyer = Buyer::arrive(office.address());
    let mut client = office.client();
    let lost = client.send(&Ask::get("/concert/dates"));
    assert_eq!(lost.json()["joinAt"], format!("{gate}/wait/main"));
    room.kill();
    let away = client.send(&Ask::get("/concert/dates").token(&buyer.token));
    assert_eq!(
        (away.status, away.code()),
        (503, "STORE_UNAVAILABLE".into())
    );
    let said = office.stdout() + &office.stderr();
    assert!(said.contains("the waiting room does not answer"), "{said}");
    assert!(!said.contains(SERVICE_KEY), "{said}");
}

#[test]
fn a_box_office_without_a_key_or_a_room_does_not_start() {
    let rooms = Site::new("").with_flag("--service-key", SERVICE_KEY);
    let room = rooms.start();
    let line = format!("boxoffice --gate http://{}", room.address());
    let keyless = Site::new("").ropeline(&line).complaint(1);
    assert!(keyless.contains("ROPELINE_SERVICE_KEY"), "{keyless}");
    let elsewhere = Site::new("boxoffice.room = 'elsewhere'\n");
    let elsewhere = elsewhere.with_flag("--service-key", SERVICE_KEY);
    let complaint = elsewhere.ropeline(&line).complaint(1);
    assert!(complaint.contains("there is no such room"), "{complaint}");
}

#[test]
fn a_box_office_of_its_own_does_not_start_with_logins_of_the_site() {
    let books = Site::new("").with_flag("--service-key", SERVICE_KEY);
    let secret = books.with_file("secret", b"the-secret-that-signs-the-logins");
    books.configure(&format!(
        "[login]\nsecret_file = '{}'\nissuer = 'i'\naudience = 'a'\n",
        secret.display()
    ));
    let complaint = books
        .ropeline("boxoffice --gate http://127.0.0.1:1")
        .complaint(1);
    assert!(
        complaint.contains("Remove the key from [login]"),
        "{complaint}"
    );
    assert!(!books.data().exists(), "{complaint}");
}

#[test]
fn buyers_of_a_box_office_of_its_own_come_into_a_room_that_nobody_else_can_join() {
    let jwt = format!("{ONE_INSIDE}identity = 'jwt'\n").replace("[boxoffice]\n", "");
    let rooms = Site::new(&jwt).with_flag("--service-key", SERVICE_KEY);
    let room = rooms.start();
    let books = Site::new("").with_flag("--service-key", SERVICE_KEY);
    let office = books.start_as(&format!("boxoffice --gate http://{}", room.address()));
    let buyer = Buyer::arrive(office.address());
    buyer.pay(buyer.hold(buyer.free_seat()));
    let stranger = room.client().send(&join("1"));
    assert_eq!(stranger.code(), "LOGIN_REQUIRED");
}

#[test]
fn a_box_office_that_cannot_listen_begins_nothing() {
    let rooms = Site::new("").with_flag("--service-key", SERVICE_KEY);
    let room = rooms.start();
    let books = Site::new("").with_flag("--service-key", SERVICE_KEY);
    let _taken = TcpListener::bind(books.address()).expect("a free address");
    let line = format!("boxoffice --gate http://{}", room.address());
    let complaint = books.ropeline(&line).complaint(1);
    assert!(complaint.contains("--listen"), "{complaint}");
    assert!(!books.data().exists(), "{complaint}");
}

#[test]
fn a_box_office_of_its_own_notes_what_its_operators_do() {
    let site = || Site::new("").with_variable("ROPELINE_SERVICE_KEY", SERVICE_KEY);
    let (rooms, books) = (site(), site());
    let room = rooms.start();
    let key = "the-key-of-its-operators";
    let books = books.with_variable("ROPELINE_ADMIN_KEY", key);
    let office = books.start_as(&format!("boxoffice --gate http://{}", room.address()));
    let mut client = office.client();
    let mut create = |key: &str, title: &str| {
        let ask =
            Ask::post("/api/v1/admin/concerts").header("Authorization", &format!("Bearer {key}"));
        client.send(&ask.json(&json!({"title": title}))).status
    };
    assert_eq!(create(key, "A night"), 201);
    assert_eq!(create(key, ""), 422);
    assert_eq!(create("guess", "Mine"), 401);
    let log = fs::read_to_string(books.data().join("audit.log")).expect("the log");
    let lines: Vec<Value> = log
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    let told: Vec<_> = lines
        .iter()
        .map(|line| {
            (
                &line["action"],
                &line["outcome"],
                &line["details"],
                &line["by"],
            )
        })
        .collect();
    let concerts = "POST /api/v1/admin/concerts";
    assert_eq!(
        json!(told),
        json!([
            [concerts, "done", {"title": "A night"}, "key"],
            [concerts, "INVALID_REQUEST", {"title": ""}, "key"],
            ["key", "UNAUTHORIZED", {"api": "admin"}, null],
        ])
    );
    assert!(
        books
            .ropeline("audit verify")
            .result()
            .starts_with("3 lines are chained")
    );
}

#[test]
fn a_box_office_of_its_own_notes_reloads_and_tells_too_many_requests_from_wrong_keys() {
    let site = |settings| Site::new(settings).with_variable("ROPELINE_SERVICE_KEY", SERVICE_KEY);
    let (rooms, books) = (site(""), site("rate_limits = { admin_per_minute = 2 }\n"));
    let room = rooms.start();
    let key = "the-key-of-its-operators";
    let books = books.with_variable("ROPELINE_ADMIN_KEY", key);
    let mut office = books.start_as(&format!("boxoffice --gate http://{}", room.address()));
    let greeting = office.stdout();
    let place = "admin key   given by ROPELINE_ADMIN_KEY or --admin-key\n";
    assert!(greeting.contains(place), "{greeting}");
    let mut client = office.client();
    let statuses: Vec<_> = (0..4)
        .map(|_| {
            let ask = Ask::post("/api/v1/admin/concerts").json(&json!({"title": "A night"}));
            let ask = ask.header("Authorization", &format!("Bearer {key}"));
            client.send(&ask).status
        })
        .collect();
    assert_eq!(statuses, [201, 201, 429, 429]);
    office.hang_up();
    let lines = || {
        let log = fs::read_to_string(books.data().join("audit.log")).expect("the log");
        let parse = |line| serde_json::from_str::<Value>(line).expect("JSON");
        log.lines().map(parse).collect::<Vec<_>>()
    };
    until(DONE_MAX, "the reload is noted", || {
        lines()
            .iter()
            .any(|line| line["action"] == "reload")
            .then_some(())
    });
    office.terminate();
    office.ended_within(DONE_MAX);
    let told: Vec<_> = lines()
        .iter()
        .map(|line| json!([line["action"], line["details"], line["by"]]))
        .collect();
    let concerts = "POST /api/v1/admin/concerts";
    let title = json!({"title": "A night"});
    assert_eq!(
        json!(told),
        json!([
            [concerts, title, "key"],
            [concerts, title, "key"],
            ["reload", {}, "signal"],
            ["rate_limited", {"requests": 2}, "key"],
        ])
    );
}

#[test]
fn a_box_office_of_its_own_without_an_admin_key_says_so() {
    let site = || Site::new("").with_variable("ROPELINE_SERVICE_KEY", SERVICE_KEY);
    let (rooms, books) = (site(), site());
    let room = rooms.start();
    let office = books.start_as(&format!("boxoffice --gate http://{}", room.address()));
    let greeting = office.stdout();
    assert!(greeting.contains("admin key   none"), "{greeting}");
}
