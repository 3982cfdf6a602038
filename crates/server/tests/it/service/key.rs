//! A service is believed by its key, and by nothing else.

use ropeline_testing::http::Ask;
use serde_json::json;

use super::way::{COUNTER, calls, keyed, service};
use crate::app::{ADMIN_KEY, SERVICE_KEY, TestApp};

#[test]
fn without_the_service_key_no_call_is_answered() {
    let mut app = TestApp::with(&format!(
        "rate_limits.admin_failures_per_minute = 0\n{COUNTER}"
    ));
    let token = app.token_of("ann");
    for (method, call, body) in calls() {
        let path = format!("/api/v1/service/rooms/main/{call}");
        let ask = Ask::with(method, &path).token(&token).json(&body);
        let with = |proof: &str| ask.clone().header("Authorization", proof);
        for ask in [
            ask.clone(),
            with("Bearer wrong"),
            with("Bearer "),
            with(&format!("Basic {SERVICE_KEY}")),
            with(&format!("Bearer {ADMIN_KEY}")),
            ask.clone()
                .header("Cookie", &format!("rl__admin={SERVICE_KEY}")),
        ] {
            let reply = app.send(ask);
            assert_eq!(
                (reply.status, reply.code().as_str()),
                (401, "UNAUTHORIZED"),
                "{call}"
            );
            assert_eq!(reply.header("www-authenticate"), Some("Bearer"));
        }
    }
    assert_eq!(app.verify(&token).status, 204, "nothing of it was done");
    let admin = Ask::get("/api/v1/admin/rooms");
    let reply = app.send(admin.header("Authorization", &format!("Bearer {SERVICE_KEY}")));
    assert_eq!(reply.code(), "UNAUTHORIZED", "a service is no operator");
}

#[test]
fn where_no_service_key_is_set_no_service_is_believed() {
    let mut app = TestApp::without_service_key(COUNTER);
    for key in [SERVICE_KEY, ADMIN_KEY, ""] {
        for (method, call, body) in calls() {
            let reply = app.send(keyed(method, "main", call, key).json(&body));
            assert_eq!(reply.code(), "UNAUTHORIZED", "{call}");
        }
    }
}

#[test]
fn guessing_the_service_key_is_stopped_and_keeps_no_operator_out() {
    let mut app = TestApp::with("trusted_proxies = ['127.0.0.1']\n");
    let mut ask = |key: &str, from: &str| {
        let ask = keyed("POST", "main", "tokens", key).header("X-Forwarded-For", from);
        app.send(ask).status
    };
    let guesses: Vec<_> = (0..25)
        .map(|n| ask(&format!("guess-{n}"), "198.51.100.7"))
        .collect();
    assert_eq!(guesses[..20], [401; 20]);
    assert_eq!(guesses[20..], [429; 5]);
    assert_eq!(
        ask(SERVICE_KEY, "198.51.100.7"),
        201,
        "the right one is taken"
    );
    assert_eq!(ask("guess", "198.51.100.7"), 429);
    assert_eq!(ask(SERVICE_KEY, "198.51.100.8"), 201);
    let admin = Ask::get("/api/v1/admin/rooms").header("X-Forwarded-For", "198.51.100.7");
    let operator = app.send(admin.header("Authorization", &format!("Bearer {ADMIN_KEY}")));
    assert_eq!(operator.status, 200);
}

#[test]
fn with_the_right_key_a_service_may_ask_as_often_as_it_likes() {
    let mut app = TestApp::with(
        "trusted_proxies = ['127.0.0.1']\n[rate_limits]\njoins_per_minute = 2\nadmin_per_minute = 2\n",
    );
    for user in 0..50 {
        let ask = service("main", "tokens").json(&json!({"userId": user}));
        let reply = app.send(ask.header("X-Forwarded-For", "198.51.100.7"));
        assert_eq!(reply.status, 201);
    }
}
