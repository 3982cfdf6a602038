//! Nobody passes the gate without a live pass for its room.

use ropeline_testing::http::Ask;
use serde_json::json;

use crate::app::{TOKENS, TestApp, VERIFY, token};

#[test]
fn a_live_pass_opens_the_gate_and_is_renewed_by_use() {
    let mut app = TestApp::new();
    let token = app.token_of("ann");
    for expires_at in ["2023-11-14T22:14:20.000Z", "2023-11-14T22:15:00.000Z"] {
        let reply = app.verify(&token);
        assert_eq!((reply.status, reply.body.len()), (204, 0));
        assert_eq!(reply.header("x-queue-user"), Some("ann"));
        assert_eq!(reply.header("x-queue-expires-at"), Some(expires_at));
        assert_eq!(
            reply.header("x-queue-user-verified"),
            None,
            "nobody verified this name"
        );
        app.advance(40);
    }
    app.advance(20);
    let over = app.verify(&token);
    assert_eq!((over.status, over.code().as_str()), (401, "TOKEN_EXPIRED"));
}

#[test]
fn who_still_waits_is_told_where_and_when_to_ask_again() {
    let mut app = TestApp::new();
    app.token_of("inside");
    app.token_of("first");
    let token = app.token_of("second");
    let reply = app.verify(&token);
    assert_eq!((reply.status, reply.code().as_str()), (403, "NOT_ADMITTED"));
    assert_eq!(reply.json()["position"], 2);
    assert!(reply.json()["pollAfterMs"].as_u64().unwrap() >= 900);
}

#[test]
fn a_pass_has_an_end_however_busy_its_holder_is() {
    let mut app = TestApp::with(
        "[rooms.main]\nbatch = 1\nevery = \"10s\"\npass_ttl = \"60s\"\npass_max = \"90s\"\n",
    );
    let token = app.token_of("ann");
    app.advance(50);
    assert_eq!(
        app.verify(&token).header("x-queue-expires-at"),
        Some("2023-11-14T22:14:50.000Z")
    );
    app.advance(40);
    assert_eq!(app.verify(&token).code(), "TOKEN_EXPIRED");
}

#[test]
fn every_other_token_is_refused() {
    let mut app = TestApp::with("[rooms.main]\nbatch = 5\n[rooms.other]\nbatch = 5\n");
    let inside = app.token_of("ann");
    assert_eq!(app.verify(&inside).status, 204, "the gate opens at all");
    let other =
        token(&app.send(Ask::post(TOKENS).json(&json!({"room": "other", "userId": "bob"}))));
    assert_eq!(
        app.send(Ask::get(&format!("{VERIFY}?room=other")).token(&other))
            .status,
        204
    );
    let left = app.token_of("left");
    app.send(Ask::delete(TOKENS).token(&left));
    let (signed, signature) = inside.rsplit_once('.').unwrap();
    let none = "eyJhbGciOiJub25lIiwidHlwIjoicmwrand0In0";
    let payload = inside.split('.').nth(1).unwrap();
    let flipped = signature.chars().rev().collect::<String>();
    let bad = [
        (String::new(), "TOKEN_INVALID"),
        ("x".to_owned(), "TOKEN_INVALID"),
        (format!("{signed}.{flipped}"), "TOKEN_INVALID"),
        (format!("{none}.{payload}."), "TOKEN_INVALID"),
        (format!("{none}.{payload}.{signature}"), "TOKEN_INVALID"),
        (other, "TOKEN_INVALID"),
        (left, "TOKEN_EXPIRED"),
    ];
    for (token, code) in bad {
        let reply = app.verify(&token);
        assert_eq!(
            (reply.status, reply.code().as_str()),
            (401, code),
            "{token}"
        );
    }
    assert_eq!(
        app.send(Ask::get(VERIFY)).code(),
        "TOKEN_INVALID",
        "no token at all"
    );
    let elsewhere = app.send(Ask::get(&format!("{VERIFY}?room=other")).token(&inside));
    assert_eq!(elsewhere.code(), "TOKEN_INVALID");
    assert_eq!(
        app.verify(&inside).status,
        204,
        "nothing of this has hurt the real pass"
    );
}

#[test]
fn a_place_that_is_gone_is_401_here_because_proxies_know_no_404() {
    let mut app = TestApp::new();
    app.token_of("inside");
    let token = app.token_of("waiting");
    app.send(Ask::delete(TOKENS).token(&token));
    let reply = app.verify(&token);
    assert_eq!(
        (reply.status, reply.code().as_str()),
        (401, "TOKEN_NOT_FOUND")
    );
    assert_eq!(reply.json()["status"], 401);
}
