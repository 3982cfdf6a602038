//! What somebody is told whose place has ended.

use ropeline_testing::http::{Ask, Reply};
use serde_json::{Value, json};

use crate::app::{ADMIN_KEY, TOKENS, TestApp, field};

/// One inside for a minute; who is away for long misses the turn.
const WATCHFUL: &str = "[rooms.main]\nactive_max = 1\npass_ttl = \"60s\"\npass_max = \"0s\"\n\
                        presence_ttl = \"6s\"\nmissed_turn_ttl = \"10s\"\n";

fn operator(ask: Ask) -> Ask {
    ask.header("Authorization", &format!("Bearer {ADMIN_KEY}"))
}

fn told(reply: &Reply) -> (u16, String, Value) {
    (reply.status, reply.code(), field(reply, "reason"))
}

fn expired(reason: &str) -> (u16, String, Value) {
    (401, "TOKEN_EXPIRED".to_owned(), json!(reason))
}

fn not_found(reason: &str) -> (u16, String, Value) {
    (404, "TOKEN_NOT_FOUND".to_owned(), json!(reason))
}

#[test]
fn each_ending_says_its_one_true_reason() {
    let mut app = TestApp::with(WATCHFUL);
    let names = ["done", "left", "removed", "late", "away", "last"];
    let [done, left, removed, late, away, last] = names.map(|name| app.token_of(name));
    app.send(Ask::delete(TOKENS).token(&left));
    assert_eq!(told(&app.status(&left)), not_found("LEFT"));
    let visitor = "/api/v1/admin/rooms/main/visitors/removed";
    app.send(operator(Ask::delete(visitor)));
    assert_eq!(told(&app.status(&removed)), not_found("REMOVED"));
    app.send(Ask::delete(TOKENS).token(&done));
    assert_eq!(told(&app.status(&done)), expired("FINISHED"));
    assert_eq!(field(&app.status(&late), "status"), "ACTIVE");
    for _ in 0..20 {
        app.status(&last);
        app.advance(3);
    }
    assert_eq!(told(&app.status(&late)), expired("EXPIRED"));
    assert_eq!(field(&app.status(&last), "status"), "ACTIVE");
    app.advance(10);
    assert_eq!(told(&app.status(&away)), not_found("MISSED"));
    let waiting = app.token_of("waiting");
    app.send(operator(Ask::post("/api/v1/admin/rooms/main/reset")));
    for reset in [&last, &waiting] {
        assert_eq!(told(&app.status(reset)), not_found("RESET"));
    }
    assert_eq!(told(&app.status(&left)), not_found("LEFT"), "as before");
    let at_gate = app.verify(&left);
    assert_eq!(
        (at_gate.status, field(&at_gate, "reason")),
        (401, json!("LEFT"))
    );
}

#[test]
fn a_reason_that_is_not_known_any_more_is_not_guessed() {
    let mut app = TestApp::with(WATCHFUL);
    let [done, left, waiting] = ["done", "left", "waiting"].map(|name| app.token_of(name));
    for token in [&left, &done] {
        app.send(Ask::delete(TOKENS).token(token));
    }
    app.send(operator(Ask::post("/api/v1/admin/rooms/main/reset")));
    let mut app = app.restarted();
    for (token, status) in [(&done, 401), (&left, 404)] {
        let reply = app.status(token);
        assert_eq!(
            (reply.status, field(&reply, "reason")),
            (status, json!(null))
        );
        let page = Ask::get("/wait/main?nojs=1").header("cookie", &format!("rl_main={token}"));
        let page = String::from_utf8(app.send(page).body).unwrap();
        assert!(page.contains("has ended."), "{page}");
        for guess in ["another tab", "operator", "You are done"] {
            assert!(!page.contains(guess), "{guess}");
        }
    }
    assert_eq!(told(&app.status(&waiting)), not_found("RESET"));
}
