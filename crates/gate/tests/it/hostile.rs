//! Answers that no room would give, and none at all.

use std::{net::TcpListener, time::Duration};

use ropeline_core::{Holder, Ordinal, RoomId, UserId, Visitor};
use ropeline_gate::{
    Decision, GateError, Gatekeeper, HttpGatekeeper, HttpOptions, HttpSetupError, Refusal, Waiting,
};
use tokio::time::Instant;

use crate::raw::{Raw, Turn, answer};

const KEY: &str = "a-key-that-nobody-may-see";
/// A call that waits for nothing waits this long.
const SHORT: Duration = Duration::from_millis(300);

fn asking(url: &str) -> HttpGatekeeper {
    HttpGatekeeper::new(url, KEY, HttpOptions { answer_max: SHORT }).unwrap()
}

async fn verdict(answer: &str) -> Result<Decision, GateError> {
    let raw = Raw::saying(answer);
    asking(&raw.url()).verify(&RoomId::main(), "t").await
}

fn is_away(error: &GateError) -> bool {
    matches!(error, GateError::Away(_))
}

fn is_misconfigured(error: &GateError) -> bool {
    matches!(error, GateError::Misconfigured(_))
}

#[tokio::test]
async fn success_without_a_whole_answer_opens_no_gate() {
    for body in [
        "",
        "{}",
        "[]",
        "null",
        "<html>welcome</html>",
        r#"{"checked":true}"#,
        r#"{"checked":"true","visitor":"u:1","ordinal":1,"verified":true,"remainingMs":1}"#,
        r#"{"checked":true,"visitor":"root","ordinal":1,"verified":true,"remainingMs":1}"#,
        r#"{"checked":true,"visitor":"u:1","ordinal":-1,"verified":true,"remainingMs":1}"#,
        r#"{"checked":true,"visitor":"u:1","ordinal":1,"verified":true"#,
        r#"{"code":"NOT_ADMITTED","position":1,"pollAfterMs":1}"#,
    ] {
        let error = verdict(&answer("200 OK", "", body)).await.unwrap_err();
        assert!(is_misconfigured(&error), "{body}: {error:?}");
    }
    let empty = verdict(&answer("204 No Content", "", "")).await;
    assert!(is_misconfigured(&empty.unwrap_err()));
}

#[tokio::test]
async fn refusals_are_told_by_their_code_and_not_by_their_status() {
    let problem = |body: &str| answer("401 Unauthorized", "", body);
    let refused = verdict(&problem(r#"{"code":"TOKEN_EXPIRED"}"#)).await;
    assert_eq!(refused, Ok(Decision::Refuse(Refusal::Expired)));
    let waiting = r#"{"code":"NOT_ADMITTED","position":4,"pollAfterMs":700}"#;
    assert_eq!(
        verdict(&problem(waiting)).await,
        Ok(Decision::Wait(Waiting {
            position: 4,
            poll_after: Duration::from_millis(700)
        }))
    );
    for strange in [
        "",
        "no",
        r#"{"code":"NOT_ADMITTED"}"#,
        r#"{"code":"UNAUTHORIZED"}"#,
        r#"{"code":"a\nforged log line"}"#,
    ] {
        let error = verdict(&problem(strange)).await.unwrap_err();
        assert!(is_misconfigured(&error), "{strange}: {error:?}");
        assert!(!error.to_string().contains('\n'), "{error}");
    }
}

#[tokio::test]
async fn a_server_in_trouble_is_away() {
    for (status, headers) in [
        ("500 Internal Server Error", ""),
        ("502 Bad Gateway", "Retry-After: soon\r\n"),
        ("503 Service Unavailable", "Retry-After: 99999999999\r\n"),
        ("429 Too Many Requests", "Retry-After: 3\r\n"),
    ] {
        let error = verdict(&answer(status, headers, "oops")).await.unwrap_err();
        let GateError::Away(wait) = error else {
            panic!("{status}: {error:?}");
        };
        assert!((2..=60).contains(&wait.as_secs()), "{wait:?}");
    }
}

#[tokio::test]
async fn bytes_that_are_not_http_are_no_answer() {
    for garbage in [
        "\0\0\0\0 garbage\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 10\r\nContent-Length: 20\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ] {
        let error = verdict(garbage).await.unwrap_err();
        assert!(is_away(&error), "{garbage}: {error:?}");
    }
}

#[tokio::test]
async fn an_answer_without_end_is_not_read_to_its_end() {
    let long = "x".repeat(64 * 1024 + 1);
    let error = verdict(&answer("200 OK", "", &long)).await.unwrap_err();
    assert!(is_away(&error), "{error:?}");
    let promised = "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n{";
    assert!(is_away(&verdict(promised).await.unwrap_err()));
}

#[tokio::test]
async fn a_silent_server_costs_no_more_than_the_time_that_a_call_has() {
    for turn in [
        Turn::KeepSilent,
        Turn::Say("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{".to_owned()),
    ] {
        let raw = Raw::taking(vec![turn]);
        let keeper = asking(&raw.url());
        let asked = Instant::now();
        let error = keeper.verify(&RoomId::main(), "t").await.unwrap_err();
        assert!(is_away(&error), "{error:?}");
        assert!(asked.elapsed() < SHORT * 4, "{:?}", asked.elapsed());
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_is_away() {
    let free = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let keeper = asking(&format!("http://{free}"));
    let error = keeper.stock(&RoomId::main(), Some(3)).await.unwrap_err();
    assert!(is_away(&error), "{error:?}");
}

#[tokio::test]
async fn the_key_follows_no_redirect() {
    let elsewhere = Raw::saying(&answer("204 No Content", "", ""));
    let location = format!("Location: {}/caught\r\n", elsewhere.url());
    for status in ["301 Moved", "302 Found", "307 Temporary", "308 Permanent"] {
        let raw = Raw::saying(&answer(status, &location, ""));
        let error = asking(&raw.url()).stock(&RoomId::main(), None).await;
        assert!(is_misconfigured(&error.unwrap_err()), "{status}");
        assert_eq!(raw.heads().len(), 1);
    }
    assert!(elsewhere.heads().is_empty());
}

#[tokio::test]
async fn a_connection_that_ends_as_it_is_used_is_made_up_for_where_that_is_harmless() {
    let done = || Turn::Say(answer("204 No Content", "", ""));
    let place = || Turn::Say(answer("200 OK", "", r#"{"token":"t","status":"ACTIVE"}"#));
    let (room, user) = (RoomId::main(), UserId::parse("42").unwrap());

    let raw = Raw::taking(vec![done(), Turn::HangUp, done()]);
    let keeper = asking(&raw.url());
    keeper.stock(&room, Some(2)).await.unwrap();
    keeper.stock(&room, Some(1)).await.unwrap();
    assert_eq!(raw.heads().len(), 3);

    let raw = Raw::taking(vec![Turn::HangUp, place()]);
    let ticket = asking(&raw.url()).join(&room, Some(&user)).await.unwrap();
    assert!(ticket.inside);

    // Nobody knows whether the first was done; a second would take a second place.
    let raw = Raw::taking(vec![Turn::HangUp, place()]);
    let error = asking(&raw.url()).join(&room, None).await.unwrap_err();
    assert!(is_away(&error), "{error:?}");
    assert_eq!(raw.heads().len(), 1);
}

#[tokio::test]
async fn of_all_cookies_only_the_rooms_is_handed_on() {
    let cookies = "Set-Cookie: sticky=node-1\r\nSet-Cookie: rl_main=t; Path=/\r\n";
    let raw = Raw::saying(&answer(
        "201 Created",
        cookies,
        r#"{"token":"t","status":"WAITING"}"#,
    ));
    let ticket = asking(&raw.url())
        .join(&RoomId::main(), None)
        .await
        .unwrap();
    assert_eq!(ticket.cookie.unwrap(), "rl_main=t; Path=/");
    assert!(!ticket.inside);
    let other = RoomId::parse("other").unwrap();
    let ticket = asking(&raw.url()).join(&other, None).await.unwrap();
    assert_eq!(ticket.cookie, None);
}

#[tokio::test]
async fn a_place_without_its_token_is_none() {
    for body in ["", "{}", "[]", r#"{"token":7}"#, r#""token""#] {
        let raw = Raw::saying(&answer("201 Created", "", body));
        let error = asking(&raw.url()).join(&RoomId::main(), None).await;
        assert!(is_misconfigured(&error.unwrap_err()), "{body}");
    }
}

#[tokio::test]
async fn a_token_that_cannot_be_one_does_not_travel() {
    let raw = Raw::saying(&answer("500 Oops", "", ""));
    let keeper = asking(&raw.url());
    let long = "x".repeat(4_097);
    for token in ["", "a b", "a\r\nAuthorization: Bearer x", "ü", &long] {
        let decision = keeper.verify(&RoomId::main(), token).await;
        assert_eq!(decision, Ok(Decision::Refuse(Refusal::Invalid)), "{token}");
    }
    assert!(raw.heads().is_empty());
}

#[tokio::test]
async fn the_service_api_is_asked_with_the_key_and_in_its_words() {
    let raw = Raw::saying(&answer("204 No Content", "", ""));
    let keeper = asking(&raw.url());
    let holder = Holder {
        visitor: Visitor::stated(&UserId::parse("42").unwrap()),
        ordinal: Ordinal(7),
    };
    let room = RoomId::main();
    keeper
        .keep(&room, &holder, Duration::from_secs(300))
        .await
        .unwrap();
    keeper.finish(&room, &holder).await.unwrap();
    keeper.ready(&room).await.unwrap();
    keeper.stock(&room, None).await.unwrap();
    let firsts: Vec<_> = raw
        .heads()
        .iter()
        .map(|head| head.lines().next().unwrap().to_owned())
        .collect();
    assert_eq!(
        firsts,
        [
            "post /api/v1/service/rooms/main/keep http/1.1",
            "post /api/v1/service/rooms/main/finish http/1.1",
            "get /api/v1/service/rooms/main/ready http/1.1",
            "put /api/v1/service/rooms/main/stock http/1.1",
        ]
    );
    let bearer = format!("authorization: bearer {KEY}\r\n");
    assert!(raw.heads().iter().all(|head| head.contains(&bearer)));
}

#[test]
fn the_key_is_shown_nowhere() {
    let keeper = asking("http://127.0.0.1:1");
    assert!(!format!("{keeper:?}").contains(KEY));
    let gate = ropeline_gate::Gate::new(RoomId::main(), std::sync::Arc::new(keeper));
    let shown = format!("{gate:?} {gate:#?}");
    assert!(
        shown.contains("127.0.0.1:1") && !shown.contains(KEY),
        "{shown}"
    );
}

#[test]
fn what_cannot_be_asked_is_refused_at_once() {
    let new = |url: &str, key: &str| HttpGatekeeper::new(url, key, HttpOptions::default()).err();
    assert!(matches!(
        new("localhost", KEY),
        Some(HttpSetupError::Address(_))
    ));
    for key in ["", "a b", "a\n", "ü"] {
        assert_eq!(
            new("http://127.0.0.1:1", key),
            Some(HttpSetupError::Key),
            "{key}"
        );
    }
    assert_eq!(new("http://127.0.0.1:1", KEY), None);
}
