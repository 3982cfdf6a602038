//! For which hosts the server answers, so that a site that gives its own name our address gains nothing.

use ropeline_testing::http::{Ask, Reply};
use serde_json::json;

use crate::app::{ADMIN_KEY, SERVICE_KEY, STATUS, TOKENS, TestApp, VERIFY};

const PUBLIC: &str = "public_url = 'https://tickets.example'\n";
const REBOUND: &str = "evil.example";

fn join_at(app: &mut TestApp, host: &str) -> Reply {
    app.send(Ask::post(TOKENS).json(&json!({})).host(host))
}

#[track_caller]
fn is_misdirected(reply: &Reply) {
    let told = (reply.status, reply.code());
    assert_eq!(told, (421, "MISDIRECTED_REQUEST".to_owned()));
    assert_eq!(reply.header("set-cookie"), None);
}

/// The host of the server itself, as one who knows only its address names it.
fn own(app: &TestApp) -> String {
    app.address.to_string()
}

#[test]
fn with_a_public_url_no_other_host_is_answered_for() {
    let mut app = TestApp::with(&format!("{PUBLIC}return_hosts = ['shop.example:8443']\n"));
    for host in [
        "tickets.example",
        "Tickets.Example:443",
        "shop.example",
        "localhost:8080",
        &own(&app),
    ] {
        assert_eq!(join_at(&mut app, host).status, 201, "{host}");
    }
    for host in [REBOUND, "tickets.example.evil.example", "192.0.2.1"] {
        is_misdirected(&join_at(&mut app, host));
        is_misdirected(&app.send(Ask::get("/").host(host)));
        is_misdirected(&app.send(Ask::get(STATUS).host(host)));
        is_misdirected(&app.send(Ask::get("/wait/main").host(host)));
    }
}

#[test]
fn a_page_of_another_site_under_its_own_name_cannot_join() {
    let mut app = TestApp::new();
    let origin = format!("http://{REBOUND}");
    for headers in [
        &[][..],
        &[("Origin", origin.as_str())],
        &[("Sec-Fetch-Site", "same-origin"), ("Origin", &origin)],
    ] {
        let ask = Ask::post(TOKENS).json(&json!({})).host(REBOUND);
        let ask = headers
            .iter()
            .fold(ask, |ask, (name, value)| ask.header(name, value));
        is_misdirected(&app.send(ask));
    }
    assert_eq!(join_at(&mut app, "localhost").json()["ordinal"], 1);
}

#[test]
fn without_a_public_url_a_server_of_this_machine_answers_for_it_alone() {
    let mut app = TestApp::new();
    for host in [
        "localhost",
        "wait.localhost:8080",
        "127.0.0.1",
        "[::1]:80",
        &own(&app),
    ] {
        assert_eq!(join_at(&mut app, host).status, 201, "{host}");
    }
    for host in [REBOUND, "0.0.0.0:8080", "192.0.2.1", "ropeline"] {
        is_misdirected(&join_at(&mut app, host));
    }
    is_misdirected(&app.send(Ask::get("/metrics").host(REBOUND)));
}

#[test]
fn a_server_that_others_reach_answers_for_any_host_until_it_is_told_its_name() {
    let everywhere = "listen = '0.0.0.0:0'\n";
    let mut app = TestApp::with(everywhere);
    assert_eq!(join_at(&mut app, REBOUND).status, 201);
    let mut app = TestApp::with(&format!("{everywhere}allowed_hosts = ['queue.example']\n"));
    assert_eq!(join_at(&mut app, "queue.example:8080").status, 201);
    is_misdirected(&join_at(&mut app, REBOUND));
}

#[test]
fn a_back_end_ends_a_place_under_an_internal_name_with_the_token_in_a_header_alone() {
    let mut app = TestApp::with(PUBLIC);
    let token = app.token_of("ann");
    let cookie = format!("rl_main={token}");
    let leave = || Ask::delete(TOKENS).host("ropeline:8080");
    is_misdirected(&app.send(leave()));
    is_misdirected(&app.send(leave().header("Cookie", &cookie)));
    // With the header a page of another site could join, too.
    is_misdirected(&app.send(Ask::post(TOKENS).token(&token).host("ropeline:8080")));
    assert_eq!(app.send(leave().token(&token)).status, 204);
    assert_eq!(app.send(Ask::get(STATUS).token(&token)).status, 401);
}

#[test]
fn proxies_services_and_monitors_may_use_names_of_their_own() {
    let mut app = TestApp::with(PUBLIC);
    let token = app.token_of("ann");
    for path in ["/healthz", "/readyz", "/metrics"] {
        assert_eq!(
            app.send(Ask::get(path).host("node-1:8080")).status,
            200,
            "{path}"
        );
    }
    let gate = Ask::get(VERIFY).token(&token).host("ropeline");
    assert_eq!(app.send(gate).status, 204);
    let service = Ask::post("/api/v1/service/rooms/main/verify").host("ropeline");
    let service = service.header("Authorization", &format!("Bearer {SERVICE_KEY}"));
    assert_eq!(app.send(service.token(&token)).status, 200);
    let admin = Ask::get("/api/v1/admin/rooms").host("ropeline");
    let admin = admin.header("Authorization", &format!("Bearer {ADMIN_KEY}"));
    is_misdirected(&app.send(admin));
}
