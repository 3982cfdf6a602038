//! A visitor's way through the line, as the API tells it.

use std::collections::BTreeSet;

use ropeline_core::Was;
use ropeline_testing::http::{Ask, Reply};
use serde_json::{Value, json};

use crate::app::{ADMIN_KEY, STATUS, TOKENS, TestApp, VERIFY, field, token};

#[test]
fn who_comes_into_an_empty_room_is_inside_at_once() {
    let mut app = TestApp::new();
    let reply = app.join("42");
    assert_eq!(reply.status, 201);
    let mut view = reply.json();
    assert_eq!(view["token"].take().as_str().unwrap().split('.').count(), 3);
    assert_eq!(
        view,
        json!({
            "token": null, "room": "main", "userId": "42", "ordinal": 1, "status": "ACTIVE",
            "position": 0, "ahead": 0, "behind": null, "next": false, "beforeLine": false, "etaSeconds": 0, "etaRange": null,
            "admitAt": "2023-11-14T22:13:20.000Z", "issuedAt": "2023-11-14T22:13:20.000Z",
            "expiresAt": "2023-11-14T22:14:20.000Z", "remainingSeconds": 60,
            "pollAfterMs": view["pollAfterMs"], "version": 1, "asOf": "2023-11-14T22:13:20.000Z",
            "roomState": "OPEN", "seatsLeft": null, "message": null,
        })
    );
}

#[test]
fn who_waits_knows_how_many_are_ahead_and_behind_and_how_long() {
    let mut app = TestApp::new();
    app.token_of("inside");
    app.token_of("first");
    let token = app.token_of("second");
    app.token_of("third");
    let mut view = app.status(&token).json();
    let poll = view["pollAfterMs"].take().as_u64().unwrap();
    assert!(
        (1_350..=1_500).contains(&poll),
        "within two ticks of the turn: {poll}"
    );
    assert_eq!(
        view,
        json!({
            "token": token, "room": "main", "userId": "second", "ordinal": 3, "status": "WAITING",
            "position": 2, "ahead": 1, "behind": 1, "next": false, "beforeLine": false, "etaSeconds": 20,
            "etaRange": {"low": 20, "high": 20}, "admitAt": "2023-11-14T22:13:40.000Z",
            "issuedAt": "2023-11-14T22:13:20.000Z", "expiresAt": null, "remainingSeconds": 20,
            "pollAfterMs": null, "version": 4, "asOf": "2023-11-14T22:13:20.000Z",
            "roomState": "OPEN", "seatsLeft": null, "message": null,
        })
    );
}

/// Joins, polls and gate checks take a way of their own past the router, which a request that names its origin does not.
#[test]
fn what_goes_past_the_router_is_answered_as_the_router_answers_it() {
    let mut app = TestApp::new();
    let inside = app.token_of("inside");
    let waiting = app.token_of("waiting");
    let gone = app.token_of("gone");
    app.send(Ask::delete(TOKENS).token(&gone));
    let last = waiting.len() - 1;
    let forged = format!(
        "{}{}",
        &waiting[..last],
        if waiting.ends_with('A') { 'E' } else { 'A' }
    );
    let cookie = format!("rl_main={waiting}");
    let join = |body: Value| Ask::post(TOKENS).json(&body);
    let asked: [(u16, Ask); 30] = [
        (200, Ask::get(STATUS).token(&waiting)),
        (200, Ask::get(STATUS).header("token", &waiting)),
        (200, Ask::get(STATUS).header("cookie", &cookie)),
        (
            200,
            Ask::get(&format!("{STATUS}?room=main")).header("cookie", &cookie),
        ),
        (
            200,
            Ask::get(STATUS)
                .token(&waiting)
                .header("x-queue-version", "1"),
        ),
        (
            200,
            Ask::get(STATUS)
                .token(&waiting)
                .header("x-queue-version", "1000"),
        ),
        (200, Ask::get(STATUS).token(&inside)),
        (
            401,
            Ask::get(&format!("{STATUS}?room=other")).token(&waiting),
        ),
        (
            400,
            Ask::get(&format!("{STATUS}?room=No%20Room")).token(&waiting),
        ),
        (401, Ask::get(STATUS).token(&forged)),
        (401, Ask::get(STATUS)),
        (404, Ask::get(STATUS).token(&gone)),
        (405, Ask::post(STATUS).token(&waiting)),
        (204, Ask::get(VERIFY).token(&inside)),
        (403, Ask::get(VERIFY).token(&waiting)),
        (401, Ask::get(VERIFY).token(&gone)),
        (
            401,
            Ask::get(&format!("{VERIFY}?room=other")).token(&inside),
        ),
        (405, Ask::post(VERIFY).token(&inside)),
        (200, join(json!({"userId": "waiting"})).token(&waiting)),
        (200, join(json!({})).header("cookie", &cookie)),
        (409, join(json!({"userId": "waiting"}))),
        (409, join(json!({"userId": "waiting"})).token(&gone)),
        (
            200,
            join(json!({"userId": 7})).header("idempotency-key", "7"),
        ),
        (422, join(json!({"userId": "with space"}))),
        (422, join(json!({"userId": "somebody", "seat": 1}))),
        (422, join(json!(["somebody"]))),
        (
            400,
            join(json!({"userId": "x"})).header("idempotency-key", ""),
        ),
        (404, join(json!({"room": "nowhere"}))),
        (415, Ask::post(TOKENS).raw("text/plain", b"{}")),
        (405, Ask::get(TOKENS)),
    ];
    app.send(join(json!({"userId": 7})).header("idempotency-key", "7"));
    for (status, ask) in asked {
        let label = format!("{ask:?}");
        let ask = ask.header("x-request-id", "same");
        let short = app.send(ask.clone());
        let long = app.send(ask.header("origin", "http://localhost"));
        assert_eq!(short.status, status, "{label}");
        assert_eq!(short.status, long.status, "{label}");
        let body = |reply: &Reply| String::from_utf8_lossy(&reply.body).into_owned();
        assert_eq!(body(&short), body(&long), "{label}");
        let headers = |reply: &Reply| -> BTreeSet<_> {
            let kept = reply.headers.iter().filter(|(name, _)| name != "date");
            kept.cloned().collect()
        };
        assert_eq!(headers(&short), headers(&long), "{label}");
    }
}

#[test]
fn the_line_moves_and_a_pass_runs_out() {
    let mut app = TestApp::new();
    app.token_of("first");
    let token = app.token_of("second");
    assert_eq!(field(&app.status(&token), "status"), "WAITING");
    app.advance(10);
    assert_eq!(field(&app.status(&token), "status"), "ACTIVE");
    app.advance(59);
    assert_eq!(field(&app.status(&token), "remainingSeconds"), 1);
    app.advance(1);
    let over = app.status(&token);
    assert_eq!((over.status, over.code().as_str()), (401, "TOKEN_EXPIRED"));
}

#[test]
fn status_renews_nothing() {
    let mut app = TestApp::new();
    let token = app.token_of("ann");
    app.advance(30);
    assert_eq!(field(&app.status(&token), "remainingSeconds"), 30);
    assert_eq!(field(&app.status(&token), "remainingSeconds"), 30);
}

#[test]
fn leaving_the_line_moves_those_behind_up_and_can_be_repeated() {
    let mut app = TestApp::new();
    app.token_of("inside");
    let leaving = app.token_of("leaving");
    let behind = app.token_of("behind");
    assert_eq!(field(&app.status(&behind), "ahead"), 1);
    for _ in 0..2 {
        let reply = app.send(Ask::delete(TOKENS).token(&leaving));
        assert_eq!((reply.status, reply.body.len()), (204, 0));
    }
    assert_eq!(field(&app.status(&behind), "ahead"), 0);
    let gone = app.status(&leaving);
    assert_eq!(
        (gone.status, gone.code().as_str()),
        (404, "TOKEN_NOT_FOUND")
    );
}

#[test]
fn leaving_with_a_pass_finishes_it() {
    let mut app = TestApp::new();
    let token = app.token_of("ann");
    assert_eq!(app.send(Ask::delete(TOKENS).token(&token)).status, 204);
    assert_eq!(app.status(&token).code(), "TOKEN_EXPIRED");
    assert_eq!(app.join("ann").status, 201, "ann may come again");
    assert_eq!(
        app.status(&token).code(),
        "TOKEN_EXPIRED",
        "but not with the old token"
    );
}

#[test]
fn the_token_travels_in_either_header_or_in_the_cookie() {
    let mut app = TestApp::new();
    let reply = app.join("ann");
    let token = token(&reply);
    let cookie = reply.header("set-cookie").unwrap();
    let attributes = "; Path=/; Max-Age=604800; HttpOnly; SameSite=Lax";
    assert_eq!(cookie, format!("rl_main={token}{attributes}"));
    for (name, value) in [
        ("X-Queue-Token", token.clone()),
        ("token", token.clone()),
        ("Cookie", format!("a=b; rl_main={token}")),
    ] {
        let reply = app.send(Ask::get(STATUS).header(name, &value));
        assert_eq!(reply.status, 200, "{name}");
    }
    let both = Ask::get(STATUS)
        .token("wrong")
        .header("Cookie", &format!("rl_main={token}"));
    assert_eq!(app.send(both).status, 401, "the header is what counts");
}

#[test]
fn a_room_that_is_full_says_so_and_keeps_its_line() {
    let mut app = TestApp::with(
        "[rooms.main]\nevery = \"10s\"\nbatch = 1\nwaiting_max = 2\npresence_ttl = \"0s\"\n",
    );
    for user in ["inside", "first", "second"] {
        app.token_of(user);
    }
    let full = app.join("third");
    assert_eq!((full.status, full.code().as_str()), (503, "ROOM_FULL"));
    assert!(full.header("retry-after").is_some());
    app.advance(10);
    assert_eq!(app.join("third").status, 201);
}

#[test]
fn a_stale_version_in_hand_does_no_harm() {
    let mut app = TestApp::new();
    let token = app.token_of("ann");
    for version in ["0", "18446744073709551615", "-1", "x"] {
        let reply = app.send(
            Ask::get(STATUS)
                .token(&token)
                .header("X-Queue-Version", version),
        );
        assert_eq!(reply.status, 200, "{version}");
    }
}

#[test]
fn nobody_is_shown_more_ahead_than_the_last_time() {
    let mut app = TestApp::new();
    for user in ["inside", "first", "second", "third"] {
        app.token_of(user);
    }
    let token = app.token_of("fourth");
    let figures = |reply: &Reply| (field(reply, "ahead"), field(reply, "position"));
    let last = app.status(&token);
    assert_eq!(figures(&last), (json!(3), json!(4)));
    let ordinal = field(&last, "ordinal");
    for (shown, ahead) in [
        (format!("1;ordinal={ordinal}"), 1),
        (format!("0;ordinal={ordinal}"), 0),
        (format!("3;ordinal={ordinal}"), 3),
        (format!("4;ordinal={ordinal}"), 3),
        // Of another place, or not readable.
        ("1;ordinal=1".to_owned(), 3),
        ("1".to_owned(), 3),
        ("x;ordinal=5".to_owned(), 3),
        (format!("-1;ordinal={ordinal}"), 3),
    ] {
        let ask = |path: &str| Ask::get(path).token(&token).header("X-Queue-Ahead", &shown);
        let polled = app.send(ask(STATUS));
        assert_eq!(
            figures(&polled),
            (json!(ahead), json!(ahead + 1)),
            "{shown}"
        );
        let refused = app.send(ask(VERIFY));
        assert_eq!(refused.status, 403, "{shown}");
        assert_eq!(field(&refused, "position"), json!(ahead + 1), "{shown}");
    }
}

#[test]
fn only_the_one_who_is_next_is_told_so() {
    let mut app = TestApp::with("[rooms.main]\nactive_max = 1\npresence_ttl = \"0s\"\n");
    app.import(&["1", "2", "3", "4"], Was::Inside);
    app.import(&["5", "6"], Was::Waiting);
    let tokens = ["1", "2", "3", "4", "5", "6"].map(|user| app.token_of(user));
    let mut told = |token: &str| {
        let view = app.status(token).json();
        let names = ["position", "ahead", "behind", "next", "beforeLine"];
        names.map(|name| view[name].clone())
    };
    for (n, expected) in [
        (1, json!([0, 0, null, false, false])),
        (2, json!([1, 0, 4, true, true])),
        (3, json!([2, 1, 3, false, true])),
        (4, json!([3, 2, 2, false, true])),
        // In line nobody counts them, so that `ahead` never rises.
        (5, json!([1, 0, 1, false, false])),
        (6, json!([2, 1, 0, false, false])),
    ] {
        assert_eq!(json!(told(&tokens[n - 1])), expected, "{n}");
    }
    let shown = Ask::get(STATUS).token(&tokens[3]);
    let shown = app.send(shown.header("X-Queue-Ahead", "1;ordinal=4"));
    assert_eq!(
        (field(&shown, "ahead"), field(&shown, "next")),
        (json!(1), json!(false))
    );
    for (n, says, says_not) in [(5, "Soon", "You are next"), (2, "You are next", "Soon")] {
        let cookie = format!("rl_main={}", tokens[n - 1]);
        let page = app.send(Ask::get("/wait/main?nojs=1").header("cookie", &cookie));
        let page = String::from_utf8(page.body).unwrap();
        assert!(
            page.contains(says) && !page.contains(says_not),
            "{n}: {page}"
        );
    }
    for ahead in &tokens[..4] {
        app.send(Ask::delete(TOKENS).token(ahead));
    }
    assert_eq!(field(&app.status(&tokens[5]), "next"), json!(true));
}

/// While the room is paused too: after a resume the first in line must not be the last to know.
#[test]
fn the_front_of_a_paused_room_asks_every_second_and_is_promised_nothing() {
    let mut app = TestApp::new();
    app.send(
        Ask::post("/api/v1/admin/rooms/main/pause")
            .header("Authorization", &format!("Bearer {ADMIN_KEY}")),
    );
    let first = app.token_of("first");
    let view = app.status(&first).json();
    assert_eq!(view["etaSeconds"], json!(null));
    let poll = view["pollAfterMs"].as_u64().unwrap();
    assert!((900..=1_500).contains(&poll), "{poll}");
    let refused = app.verify(&first).json();
    let poll = refused["pollAfterMs"].as_u64().unwrap();
    assert!((900..=1_500).contains(&poll), "{poll}");
}

#[test]
fn a_place_that_the_room_has_forgotten_can_be_left() {
    let mut app = TestApp::new();
    app.token_of("inside");
    let token = app.token_of("ann");
    let mut app = app.restarted_without_rooms();
    assert_eq!(app.send(Ask::delete(TOKENS).token(&token)).status, 204);
    assert_eq!(app.status(&token).code(), "TOKEN_NOT_FOUND");
}
