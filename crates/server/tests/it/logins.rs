//! A verified login is who it says.

use std::{
    thread::sleep,
    time::{Duration, Instant},
};

use ropeline_testing::{http::Ask, login::LoginKey};
use serde_json::json;

use crate::{
    app::{TOKENS, TestApp, field, token},
    site::{RSA, SECRET, Site, ask, claims, invalid, login, now_s, place, problem, required},
};

/// Within this a running server takes up a change of its keys.
const KEYS_MAX: Duration = Duration::from_secs(10);

#[test]
fn a_room_of_logins_takes_nobody_without_one() {
    let mut site = Site::sharing_a_secret("jwt");
    let named = Ask::post(TOKENS).json(&json!({"userId": "ann"}));
    let other_scheme = Ask::post(TOKENS).header("Authorization", "Basic YTpi");
    for ask in [Ask::post(TOKENS), named, other_scheme] {
        let reply = site.app.send(ask);
        assert_eq!(problem(&reply), required());
        assert_eq!(reply.header("www-authenticate"), Some("Bearer"));
    }
    let reply = site.join("nonsense");
    assert_eq!(problem(&reply), invalid());
    assert_eq!(reply.header("www-authenticate"), Some("Bearer"));
    let reply = site.join(&login("ann"));
    assert_eq!(place(&reply), (201, json!(1), json!("ann")));
}

#[test]
fn each_kind_of_key_verifies_the_logins_of_its_own() {
    let (ec, ed) = (LoginKey::es256(), LoginKey::eddsa());
    let keys = [&*RSA, &ec, &ed];
    for key in keys {
        let mut site = Site::new("jwt", "public_key_file", key.pem.as_bytes());
        for other in keys {
            let reply = site.join(&other.login(&claims("ann")));
            let expected = if other.pem == key.pem { 201 } else { 401 };
            assert_eq!(reply.status, expected, "{other:?} to {key:?}");
        }
    }
}

#[test]
fn a_set_of_keys_is_chosen_from_by_kid() {
    let (ec, ed, stranger) = (LoginKey::es256(), LoginKey::eddsa(), LoginKey::es256());
    let shared = LoginKey::hs256(SECRET);
    let set = json!({"keys": [
        RSA.jwk_named("r"), ec.jwk_named("e"), ed.jwk_named("d"), shared.jwk_named("h"),
        {"kty": "from a later century", "kid": "x"},
    ]});
    let mut site = Site::new("jwt", "jwks_file", set.to_string().as_bytes());
    for (kid, key) in [("r", &*RSA), ("e", &ec), ("d", &ed)] {
        let reply = site.join(&key.login_named(kid, &claims(kid)));
        assert_eq!((reply.status, field(&reply, "userId")), (201, json!(kid)));
    }
    for (why, login) in [
        ("the kid of another", ec.login_named("d", &claims("ann"))),
        ("no such kid", ec.login_named("E", &claims("ann"))),
        ("no kid", ec.login(&claims("ann"))),
        (
            "a stranger's key",
            stranger.login_named("e", &claims("ann")),
        ),
        (
            "a secret has no place in a set",
            shared.login_named("h", &claims("ann")),
        ),
    ] {
        assert_eq!(problem(&site.join(&login)), invalid(), "{why}");
    }
}

#[test]
fn the_user_id_beside_a_login_is_its_subject_or_left_out() {
    for identity in ["jwt", "open"] {
        let mut site = Site::sharing_a_secret(identity);
        let other = site
            .app
            .send(ask(&login("ann")).json(&json!({"userId": "bob"})));
        assert_eq!(problem(&other), (422, "INVALID_REQUEST".to_owned()));
        assert_eq!(other.json()["errors"][0]["field"], "userId");
        let same = ask(&login("42")).json(&json!({"userId": 42}));
        let reply = site.app.send(same);
        assert_eq!(place(&reply), (201, json!(1), json!("42")));
    }
}

#[test]
fn the_gate_says_verified_of_logins_alone() {
    let mut site = Site::with_more("open", "secret_file", SECRET, "");
    let verified = token(&site.join(&login("ann")));
    let reply = site.app.verify(&verified);
    assert_eq!(
        (reply.status, reply.header("x-queue-user")),
        (204, Some("ann"))
    );
    assert_eq!(reply.header("x-queue-user-verified"), Some("true"));

    let believed = site.app.token_of("bob");
    site.app.advance(10);
    let reply = site.app.verify(&believed);
    assert_eq!(
        (reply.status, reply.header("x-queue-user")),
        (204, Some("bob"))
    );
    assert_eq!(reply.header("x-queue-user-verified"), None);
}

#[test]
fn a_bad_login_is_refused_where_none_would_do() {
    let mut site = Site::sharing_a_secret("open");
    for bad in [
        "nonsense",
        "",
        &LoginKey::hs256(&[7; 32]).login(&claims("ann")),
    ] {
        let reply = site.app.send(ask(bad).json(&json!({"userId": "ann"})));
        assert_eq!(problem(&reply), invalid());
    }
    assert_eq!(site.app.join("ann").status, 201, "nobody took the place");
}

#[test]
fn a_bearer_is_ignored_where_no_login_is_looked_at() {
    let mut app = TestApp::new();
    let reply = app.send(ask("of another service").json(&json!({"userId": "ann"})));
    assert_eq!(place(&reply), (201, json!(1), json!("ann")));
    let mut site = Site::sharing_a_secret("jwt");
    for bearer in ["nonsense", &login("ann")] {
        let reply = site
            .app
            .send(ask(bearer).json(&json!({"room": "nameless"})));
        assert_eq!((reply.status, field(&reply, "userId")), (201, json!(null)));
        let gate = site
            .app
            .send(Ask::get("/api/v1/queue/verify?room=nameless").token(&token(&reply)));
        assert_eq!(gate.header("x-queue-user-verified"), None);
    }
}

#[test]
fn a_login_holds_until_its_end_by_our_clock_and_no_longer() {
    for (more, leeway) in [("", 0), ("leeway = '5s'", 5)] {
        let mut site = Site::with_more("jwt", "secret_file", SECRET, more);
        let mut claims = claims("ann");
        claims["exp"] = json!(now_s() + 60);
        let login = LoginKey::hs256(SECRET).login(&claims);
        site.app
            .clock
            .advance(Duration::from_millis(59_999 + leeway * 1_000));
        assert_eq!(site.join(&login).status, 201);
        site.app.clock.advance(Duration::from_millis(1));
        assert_eq!(problem(&site.join(&login)), invalid());
    }
}

#[test]
fn a_login_begins_when_it_says() {
    let mut site = Site::with_more("jwt", "secret_file", SECRET, "leeway = '2s'");
    let mut claims = claims("ann");
    claims["nbf"] = json!(now_s() + 60);
    let login = LoginKey::hs256(SECRET).login(&claims);
    site.app.clock.advance(Duration::from_millis(57_999));
    assert_eq!(problem(&site.join(&login)), invalid());
    site.app.clock.advance(Duration::from_millis(1));
    assert_eq!(site.join(&login).status, 201);
}

#[test]
fn pages_of_a_listed_site_may_send_a_login() {
    let mut app = TestApp::with("cors_origins = ['https://www.example']\n");
    let preflight = Ask::options(TOKENS)
        .header("Origin", "https://www.example")
        .header("Access-Control-Request-Method", "POST")
        .header(
            "Access-Control-Request-Headers",
            "authorization,content-type",
        );
    let reply = app.send(preflight);
    let allowed = reply
        .header("access-control-allow-headers")
        .unwrap_or_default();
    assert!(allowed.contains("authorization"), "{allowed}");
}

#[test]
fn changed_keys_are_taken_up_while_the_server_runs() {
    let mut site = Site::sharing_a_secret("jwt");
    let new_secret = [9; 40];
    let by_new = |user: &str| LoginKey::hs256(&new_secret).login(&claims(user));
    assert_eq!(problem(&site.join(&by_new("ann"))), invalid());

    std::fs::write(&site.keys, new_secret).unwrap();
    let started = clock();
    while site.join(&by_new("ann")).status == 401 {
        assert!(started.elapsed() < KEYS_MAX, "the new key is not taken up");
        sleep(Duration::from_millis(50));
    }
    assert_eq!(problem(&site.join(&login("bob"))), invalid());
}

#[expect(
    clippy::disallowed_methods,
    reason = "files are looked at by the machine's clock"
)]
fn clock() -> Instant {
    Instant::now()
}
