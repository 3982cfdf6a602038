//! Whom a service lets through, what it says, and what makes no sense.

use std::{sync::Arc, time::Duration};

use ropeline_core::RoomId;
use ropeline_gate::{GateError, Gatekeeper};
use ropeline_testing::http::Ask;
use serde_json::{Value, json};

use super::way::{BOTH, COUNTER, Way, calls, holder, id, service};
use crate::app::{TOKENS, TestApp, token};

#[test]
fn both_ways_judge_every_token_alike() {
    let mut app = TestApp::with(&format!("{COUNTER}[rooms.other]\nbatch = 5\n"));
    let other = app.send(Ask::post(TOKENS).json(&json!({"room": "other"})));
    let finished = app.token_of("finished");
    app.send(Ask::delete(TOKENS).token(&finished));
    let [inside, waiting, gone] = ["ann", "bob", "gone"].map(|user| app.token_of(user));
    app.send(Ask::delete(TOKENS).token(&gone));
    app.advance(20);
    let expected = [
        (inside.as_str(), ""),
        (&waiting, "wait 1 "),
        (&finished, "TOKEN_EXPIRED"),
        (&gone, "TOKEN_NOT_FOUND"),
        (&token(&other), "TOKEN_INVALID"),
        ("", "TOKEN_INVALID"),
        ("nonsense", "TOKEN_INVALID"),
    ];
    for (token, expected) in expected {
        let [http, in_process] = BOTH.map(|way| way.verify(&mut app, "main", token));
        assert_eq!(http, in_process);
        assert!(http.starts_with(expected), "{http}");
    }
    let renewed: Value =
        serde_json::from_str(&Way::Http.verify(&mut app, "main", &inside)).unwrap();
    let all = json!({
        "checked": true, "visitor": "u:ann", "userId": "ann", "ordinal": 2, "verified": false, "remainingMs": 60_000,
    });
    assert_eq!(renewed, all);
    let without = app.send(service("main", "verify"));
    assert_eq!(
        (without.status, without.code().as_str()),
        (401, "TOKEN_INVALID")
    );
    let gone = app.send(service("main", "verify").token(&gone));
    assert_eq!(
        (gone.status, gone.code().as_str()),
        (401, "TOKEN_NOT_FOUND")
    );
}

#[test]
fn those_who_wait_see_what_a_service_has_left_to_sell() {
    for way in BOTH {
        let mut app = TestApp::new();
        let token = app.token_of("ann");
        for (left, state) in [
            (Some(120), "OPEN"),
            (Some(0), "SOLD_OUT"),
            (None, "OPEN"),
            (Some((1 << 53) - 1), "OPEN"),
        ] {
            assert_eq!(way.stock(&mut app, left), "");
            let view = app.status(&token).json();
            assert_eq!(
                (&view["seatsLeft"], &view["roomState"]),
                (&json!(left), &json!(state))
            );
        }
    }
}

#[test]
fn a_room_that_takes_joins_is_ready() {
    for way in BOTH {
        let mut app = TestApp::new();
        assert_eq!(way.ready(&mut app), "");
    }
}

#[test]
fn a_room_that_is_not_there_is_404_by_every_call() {
    let mut app = TestApp::new();
    let token = app.token_of("ann");
    for (_, call, body) in calls() {
        let reply = app.send(service("nowhere", call).token(&token).json(&body));
        assert_eq!(
            (reply.status, reply.code().as_str()),
            (404, "ROOM_NOT_FOUND"),
            "{call}"
        );
        let reply = app.send(service("No-Slug", call).token(&token).json(&body));
        assert_eq!(
            (reply.status, reply.code().as_str()),
            (400, "INVALID_REQUEST"),
            "{call}"
        );
    }
    let (keeper, nowhere, ann) = (app.gatekeeper(), id("nowhere"), holder("ann", 1));
    let missing = Err(GateError::NoSuchRoom);
    assert_eq!(
        app.run(keeper.verify(&nowhere, &token)).map(|_| ()),
        missing
    );
    assert_eq!(app.run(keeper.join(&nowhere, None)).map(|_| ()), missing);
    assert_eq!(
        app.run(keeper.keep(&nowhere, &ann, Duration::ZERO)),
        missing
    );
    assert_eq!(app.run(keeper.finish(&nowhere, &ann)), missing);
    assert_eq!(app.run(keeper.ready(&nowhere)), missing);
    assert_eq!(app.run(keeper.stock(&nowhere, Some(1))), missing);
}

#[test]
fn a_call_that_makes_no_sense_is_refused_and_changes_nothing() {
    let mut app = TestApp::with(COUNTER);
    let token = app.token_of("ann");
    let before = app.status(&token).json();
    let ann = |milliseconds: Value| json!({"visitor": "u:ann", "ordinal": 1, "milliseconds": milliseconds});
    let who = |visitor: Value, ordinal: Value| json!({"visitor": visitor, "ordinal": ordinal});
    let deep = "[".repeat(5_000);
    let cases = [
        ("tokens", json!({"userId": ""}).to_string()),
        ("tokens", json!({"userId": "a b"}).to_string()),
        ("tokens", json!({"userId": 1.5}).to_string()),
        ("tokens", json!({"room": "main"}).to_string()),
        ("tokens", json!(["ann"]).to_string()),
        ("tokens", "{".to_owned()),
        ("keep", deep),
        ("keep", String::new()),
        ("keep", ann(json!(86_400_001)).to_string()),
        ("keep", ann(json!(-1)).to_string()),
        ("keep", ann(json!(1.5)).to_string()),
        ("keep", ann(json!("300000")).to_string()),
        ("keep", ann(json!(null)).to_string()),
        ("keep", who(json!("u:ann"), json!(1)).to_string()),
        ("finish", ann(json!(0)).to_string()),
        ("finish", who(json!("ann"), json!(1)).to_string()),
        ("finish", who(json!("u:"), json!(1)).to_string()),
        ("finish", who(json!("u:a\nb"), json!(1)).to_string()),
        (
            "finish",
            who(json!(format!("u:{}", "x".repeat(129))), json!(1)).to_string(),
        ),
        ("finish", who(json!("u:ann"), json!(0)).to_string()),
        ("finish", who(json!("u:ann"), json!(-1)).to_string()),
        ("finish", who(json!("u:ann"), json!(u64::MAX)).to_string()),
        ("finish", who(json!("u:ann"), json!("1")).to_string()),
        ("stock", String::new()),
        ("stock", json!({"left": -1}).to_string()),
        ("stock", json!({"left": 1.5}).to_string()),
        ("stock", json!({"left": u64::MAX}).to_string()),
        ("stock", json!({"left": "12"}).to_string()),
        ("stock", json!({"left": 1, "right": 1}).to_string()),
        ("stock", json!([1]).to_string()),
    ];
    for (call, body) in cases {
        let shown = body.chars().take(60).collect::<String>();
        let reply = app.send(service("main", call).raw("application/json", body.as_bytes()));
        assert!(
            matches!(reply.status, 400 | 422),
            "{call} {shown}: {}",
            reply.status
        );
        assert_eq!(reply.code(), "INVALID_REQUEST", "{call} {shown}");
    }
    let plain = app.send(service("main", "finish").raw("text/plain", b"{}"));
    assert_eq!(plain.status, 415);
    assert_eq!(app.status(&token).json(), before);
    let longest = app.send(service("main", "keep").json(&ann(json!(86_400_000))));
    assert_eq!(longest.status, 204);
}

#[test]
fn a_gatekeeper_outlives_the_server_and_then_says_that_the_room_is_away() {
    let mut app = TestApp::new();
    app.token_of("ann");
    let keeper: Arc<dyn Gatekeeper> = app.gatekeeper();
    app.stop_serving();
    let finished = app.run(keeper.finish(&RoomId::main(), &holder("ann", 1)));
    assert!(matches!(finished, Err(GateError::Away(_))), "{finished:?}");
}
