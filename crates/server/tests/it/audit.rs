//! The audit log: what was done with a key, and that its lines are as they were written.

use std::{fs, net::SocketAddr, sync::Arc, time::Duration};

use axum::{
    Extension, Router,
    body::Body,
    extract::{ConnectInfo, Request},
    routing::{get, post},
};
use http::StatusCode;
use ropeline_server::{
    Beside,
    audit::{Before, ServiceLog, verify},
};
use ropeline_testing::{ManualClock, http::Ask, line::START};
use ropeline_web::{KeyRefused, Tasks, TrustedProxies};
use serde_json::{Value, json};
use tokio::{io::AsyncWriteExt, net::TcpStream, sync::Notify};
use tower::ServiceExt;

use crate::{
    app::{ADMIN_KEY, SERVICE_KEY, TestApp},
    beside::shop,
};

fn form(path: &str, fields: &str) -> Ask {
    Ask::post(path).raw("application/x-www-form-urlencoded", fields.as_bytes())
}

fn with_key(ask: Ask, key: &str) -> Ask {
    ask.header("Authorization", &format!("Bearer {key}"))
}

/// The lines of the log, whose chain holds.
fn lines(app: &TestApp) -> Vec<Value> {
    let verified = verify(&[app.path("audit.log")], Before::Nothing);
    let verified = verified.unwrap_or_else(|error| panic!("{error}"));
    let text = app.file("audit.log");
    let lines: Vec<_> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(verified.chained, lines.len() as u64);
    for key in [ADMIN_KEY, SERVICE_KEY, "guess"] {
        assert!(!text.contains(key), "{text}");
    }
    lines
}

fn told(lines: &[Value], names: &[&str]) -> Value {
    let line = |line: &Value| {
        names
            .iter()
            .map(|name| line[*name].clone())
            .collect::<Vec<_>>()
    };
    json!(lines.iter().map(line).collect::<Vec<_>>())
}

#[test]
fn every_login_is_noted_right_or_wrong_and_so_is_its_end() {
    let mut app = TestApp::new();
    app.send(form("/admin/login", "key=guess"));
    app.send(with_key(Ask::get("/api/v1/admin/rooms"), "guess"));
    app.send(with_key(
        Ask::post("/api/v1/service/rooms/main/tokens"),
        "guess",
    ));
    let opened = app.send(form("/admin/login", &format!("key={ADMIN_KEY}")));
    let cookie = opened
        .header("set-cookie")
        .unwrap()
        .split(';')
        .next()
        .unwrap()
        .to_owned();
    let page = app.send(Ask::get("/admin").header("Cookie", &cookie));
    let page = String::from_utf8(page.body).unwrap();
    let (_, csrf) = page.split_once("name=\"csrf\" value=\"").unwrap();
    let csrf = csrf.split('"').next().unwrap();
    app.send(form("/admin/logout", &format!("csrf={csrf}")).header("Cookie", &cookie));
    let lines = lines(&app);
    assert_eq!(
        told(&lines, &["action", "outcome", "by", "room"]),
        json!([
            ["login", "UNAUTHORIZED", null, null],
            ["key", "UNAUTHORIZED", null, null],
            ["key", "UNAUTHORIZED", null, null],
            ["login", "done", "key", null],
            ["logout", "done", "session", null],
        ])
    );
    assert_eq!(lines[1]["details"], json!({"api": "admin"}));
    assert_eq!(lines[2]["details"], json!({"api": "service"}));
    assert_eq!(lines[3]["details"], lines[4]["details"], "the same session");
    for line in &lines {
        assert!(
            line["requestId"].is_string() && line["address"] == "127.0.0.1",
            "{line}"
        );
    }
}

#[test]
fn a_guesser_cannot_fill_the_log() {
    let mut app = TestApp::new();
    for _ in 0..100 {
        app.send(with_key(Ask::get("/api/v1/admin/rooms"), "guess"));
    }
    let lines = lines(&app.restarted());
    assert_eq!(lines.len(), 21);
    assert_eq!(lines[20]["action"], "wrong_keys");
    assert_eq!(lines[20]["details"], json!({"api": "admin", "more": 80}));
    assert_eq!(lines[20]["address"], "127.0.0.1");
}

#[test]
fn requests_with_the_right_key_that_are_too_many_are_counted() {
    let mut app = TestApp::with("rate_limits = { admin_per_minute = 2 }\n");
    let rooms = || with_key(Ask::get("/api/v1/admin/rooms"), ADMIN_KEY);
    let statuses: Vec<_> = (0..4).map(|_| app.send(rooms()).status).collect();
    assert_eq!(statuses, [200, 200, 429, 429]);
    app.send(form("/admin/login", &format!("key={ADMIN_KEY}")));
    assert_eq!(
        told(
            &lines(&app.restarted()),
            &["action", "details", "by", "address"]
        ),
        json!([["rate_limited", {"requests": 3}, "key", "127.0.0.1"]])
    );
}

#[test]
fn what_a_service_does_is_counted() {
    let mut app = TestApp::new();
    for user in ["ann", "bob", "ann"] {
        let ask = Ask::post("/api/v1/service/rooms/main/tokens").json(&json!({"userId": user}));
        assert!(app.send(with_key(ask, SERVICE_KEY)).status < 300);
    }
    let stock = Ask::with("PUT", "/api/v1/service/rooms/main/stock").json(&json!({"left": 7}));
    assert_eq!(app.send(with_key(stock, SERVICE_KEY)).status, 204);
    let probe = Ask::get("/api/v1/service/rooms/main/ready");
    let probed = app.send(with_key(probe, SERVICE_KEY));
    assert_eq!(probed.status, 204, "and not counted");
    let nowhere = Ask::post("/api/v1/service/rooms/nowhere/tokens").json(&json!({}));
    assert_eq!(app.send(with_key(nowhere, SERVICE_KEY)).status, 404);
    assert!(lines(&app).is_empty(), "a minute is not over");
    let lines = lines(&app.restarted());
    assert_eq!(
        told(&lines, &["action", "room", "details", "by", "address"]),
        json!([
            ["service", "main", {"join": 3, "stock": 1}, "service", "127.0.0.1"],
            ["service", "nowhere", {"refused": 1}, "service", "127.0.0.1"],
        ])
    );
}

#[test]
fn what_operators_change_in_a_service_beside_the_rooms_is_noted() {
    let mut app = TestApp::beside("", shop());
    let goods = || Ask::post("/api/v1/admin/goods");
    app.send(with_key(Ask::get("/api/v1/admin/goods"), ADMIN_KEY));
    let made = app.send(with_key(
        goods().json(&json!({"title": "A song"})),
        ADMIN_KEY,
    ));
    assert_eq!(
        made.body, b"{\"title\":\"A song\"}",
        "it has the body all the same"
    );
    let long = json!({"title": "x".repeat(10_000)});
    app.send(with_key(goods().json(&long), ADMIN_KEY));
    let refused = Ask::delete("/api/v1/admin/goods");
    assert_eq!(
        app.send(with_key(refused, ADMIN_KEY)).code(),
        "METHOD_NOT_ALLOWED"
    );
    app.send(goods().json(&json!({"title": "nobody"})));
    let lines = lines(&app);
    let bytes = long.to_string().len();
    assert_eq!(
        told(&lines, &["action", "outcome", "details", "by"]),
        json!([
            ["POST /api/v1/admin/goods", "done", {"title": "A song"}, "key"],
            ["POST /api/v1/admin/goods", "done", {"bytes": bytes}, "key"],
            ["DELETE /api/v1/admin/goods", "405", {"bytes": 0}, "key"],
        ])
    );
}

#[test]
fn the_log_goes_on_after_a_restart() {
    let mut app = TestApp::new();
    let pause = || with_key(Ask::post("/api/v1/admin/rooms/main/pause"), ADMIN_KEY);
    app.send(pause());
    let mut app = app.restarted();
    app.send(pause());
    assert_eq!(lines(&app).len(), 2);
}

/// Work that waits until the test lets it go on.
#[derive(Clone, Default)]
struct Held {
    begun: Arc<Notify>,
    go_on: Arc<Notify>,
}

impl Held {
    /// A route for operators whose work it is.
    fn router(&self) -> Router {
        let held = self.clone();
        let work = async move || {
            held.begun.notify_one();
            held.go_on.notified().await;
        };
        Router::new().route("/api/v1/admin/goods", post(work))
    }
}

/// Waits until the test's own connection is the only one.
fn await_disconnected(app: &mut TestApp) {
    for _ in 0..100_000 {
        let metrics = app.send(Ask::get("/metrics"));
        let text = String::from_utf8(metrics.body).unwrap();
        if text
            .lines()
            .any(|line| line == "ropeline_http_connections 1")
        {
            return;
        }
    }
    panic!("the connection stays open");
}

#[test]
fn what_an_operator_does_is_noted_though_the_client_is_gone_before_it_is_done() {
    let held = Held::default();
    let router = held.router();
    let mut app = TestApp::beside("", Beside { router, ..shop() });
    let request = format!(
        "POST /api/v1/admin/goods HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {ADMIN_KEY}\r\n\
         Content-Length: 0\r\n\r\n"
    );
    let address = app.address;
    app.run(async {
        let mut client = TcpStream::connect(address).await.unwrap();
        client.write_all(request.as_bytes()).await.unwrap();
        held.begun.notified().await;
        client.set_zero_linger().unwrap();
    });
    await_disconnected(&mut app);
    held.go_on.notify_one();
    let lines = lines(&app.restarted());
    assert_eq!(
        told(&lines, &["action", "outcome", "by"]),
        json!([["POST /api/v1/admin/goods", "done", "key"]])
    );
}

#[tokio::test]
async fn a_service_of_its_own_notes_what_is_done_after_its_client_has_gone() {
    let directory = tempfile::tempdir().unwrap();
    let clock = Arc::new(ManualClock::at(START));
    let log = ServiceLog::open(directory.path(), clock, TrustedProxies::default()).unwrap();
    let (held, tasks) = (Held::default(), Tasks::new());
    let router = log.note(held.router(), &tasks);
    let request = Request::post("/api/v1/admin/goods").header("Authorization", "Bearer key");
    let request = request.extension(ConnectInfo(SocketAddr::from(([127, 0, 0, 1], 1))));
    let mut answer = Box::pin(router.oneshot(request.body(Body::empty()).unwrap()));
    tokio::select! {
        _ = &mut answer => panic!("the work is held up"),
        () = held.begun.notified() => {}
    }
    drop(answer);
    held.go_on.notify_one();
    tasks.finish(Duration::from_secs(10)).await;
    let text = fs::read_to_string(directory.path().join("audit.log")).unwrap();
    assert!(text.contains("POST /api/v1/admin/goods"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn a_service_of_its_own_writes_what_it_counted_without_another_request() {
    let directory = tempfile::tempdir().unwrap();
    let clock = Arc::new(ManualClock::at(START));
    let any_clock = Arc::clone(&clock) as _;
    let log = ServiceLog::open(directory.path(), any_clock, TrustedProxies::default()).unwrap();
    let refused = async || (StatusCode::UNAUTHORIZED, Extension(KeyRefused::Wrong));
    let router = Router::new().route("/api/v1/admin/goods", get(refused));
    let router = log.note(router, &Tasks::new());
    for _ in 0..25 {
        let request = Request::get("/api/v1/admin/goods").header("Authorization", "Bearer guess");
        let request = request.extension(ConnectInfo(SocketAddr::from(([127, 0, 0, 1], 1))));
        let request = request.body(Body::empty()).unwrap();
        router.clone().oneshot(request).await.unwrap();
    }
    clock.advance(Duration::from_secs(60));
    let counted = tokio::time::timeout(Duration::from_secs(5), log.write_counts());
    counted.await.unwrap_err();
    let text = fs::read_to_string(directory.path().join("audit.log")).unwrap();
    assert_eq!(text.lines().count(), 21);
    assert!(text.contains("\"more\":5"), "{text}");
}
