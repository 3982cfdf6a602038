//! What pages of other sites can make a visitor's browser do here.

use ropeline_testing::http::{Ask, Reply};
use serde_json::json;

use crate::app::{STATUS, TOKENS, TestApp, token};

const SHOP: &str = "https://shop.example";
const SETTINGS: &str =
    "public_url = \"https://tickets.example\"\ncors_origins = [\"https://shop.example\"]\n";

fn join_with(app: &mut TestApp, headers: &[(&str, &str)]) -> Reply {
    let ask = Ask::post(TOKENS).json(&json!({}));
    let with = |ask: Ask, (name, value): &(&str, &str)| ask.header(name, value);
    app.send(headers.iter().fold(ask, with))
}

#[track_caller]
fn is_refused(reply: &Reply) {
    assert_eq!((reply.status, reply.code().as_str()), (403, "CROSS_SITE"));
    assert_eq!(reply.header("set-cookie"), None);
    assert_eq!(reply.header("access-control-allow-origin"), None);
}

#[test]
fn a_page_of_another_site_cannot_replace_a_visitors_place() {
    let mut app = TestApp::with(SETTINGS);
    is_refused(&join_with(&mut app, &[("Sec-Fetch-Site", "cross-site")]));
    is_refused(&join_with(&mut app, &[("Sec-Fetch-Site", "same-site")]));
    is_refused(&join_with(&mut app, &[("Origin", "https://evil.example")]));
    is_refused(&join_with(&mut app, &[("Origin", "null")]));
    let form = Ask::post(TOKENS).raw("text/plain", b"{}");
    is_refused(&app.send(form.header("Sec-Fetch-Site", "cross-site")));
    assert_eq!(join_with(&mut app, &[]).json()["ordinal"], 1);
}

#[test]
fn a_page_of_another_site_cannot_make_a_visitor_leave() {
    let mut app = TestApp::new();
    let mine = app.token_of("me");
    let leave = Ask::delete(TOKENS).token(&mine);
    is_refused(&app.send(leave.header("Origin", "https://evil.example")));
    assert_eq!(app.status(&mine).status, 200);
}

#[test]
fn our_own_pages_and_programs_may_join() {
    let mut app = TestApp::with(SETTINGS);
    for headers in [
        &[][..],
        &[
            ("Sec-Fetch-Site", "same-origin"),
            ("Origin", "http://localhost"),
        ],
        &[("Sec-Fetch-Site", "same-origin"), ("Origin", "null")],
        &[("Sec-Fetch-Site", "none")],
        &[("Origin", "http://localhost")],
        &[("Origin", "https://tickets.example")],
    ] {
        assert_eq!(join_with(&mut app, headers).status, 201, "{headers:?}");
    }
}

#[test]
fn a_listed_site_may_ask_first_and_then_join() {
    let mut app = TestApp::with(SETTINGS);
    let preflight = Ask::with("OPTIONS", TOKENS)
        .header("Origin", SHOP)
        .header("Sec-Fetch-Site", "cross-site")
        .header("Access-Control-Request-Method", "POST")
        .header(
            "Access-Control-Request-Headers",
            "content-type,idempotency-key",
        );
    let reply = app.send(preflight);
    assert_eq!(reply.status, 200);
    assert_eq!(reply.header("access-control-allow-origin"), Some(SHOP));
    let reply = join_with(
        &mut app,
        &[("Sec-Fetch-Site", "cross-site"), ("Origin", SHOP)],
    );
    assert_eq!(reply.status, 201);
    assert_eq!(reply.header("access-control-allow-origin"), Some(SHOP));
}

#[test]
fn looking_is_never_refused() {
    let mut app = TestApp::new();
    let token = token(&app.join("me"));
    let ask = Ask::get(STATUS).token(&token);
    let ask = ask.header("Sec-Fetch-Site", "cross-site");
    assert_eq!(
        app.send(ask.header("Origin", "https://evil.example"))
            .status,
        200
    );
}
