//! For load balancers and monitoring.

use ropeline_server::error::CATALOGUE;
use ropeline_testing::http::Ask;
use serde_json::json;

use crate::app::TestApp;

#[test]
fn a_healthy_server_is_alive_and_ready() {
    let mut app = TestApp::new();
    assert_eq!(
        app.send(Ask::get("/healthz")).json(),
        json!({"status": "ok"})
    );
    let ready = app.send(Ask::get("/readyz"));
    assert_eq!(
        (ready.status, ready.json()),
        (200, json!({"status": "ready", "degraded": []}))
    );
}

#[test]
fn the_metrics_follow_the_rooms() {
    let mut app = TestApp::new();
    for n in 0..3 {
        app.token_of(&format!("user-{n}"));
    }
    app.join("user-0");
    // Totals are set anew each time; asking twice must not double them.
    app.send(Ask::get("/metrics"));
    let reply = app.send(Ask::get("/metrics"));
    let text = String::from_utf8(reply.body.clone()).unwrap();
    for line in [
        r#"ropeline_room_visitors{room="main",where="waiting"} 2"#,
        r#"ropeline_room_visitors{room="main",where="active"} 1"#,
        r#"ropeline_room_events_total{event="joined",room="main"} 3"#,
        r#"ropeline_http_answers_total{status="4xx"} 1"#,
        "ropeline_store_up 1",
        "ropeline_http_connections 1",
    ] {
        assert!(
            text.lines().any(|known| known == line),
            "{line} is not in\n{text}"
        );
    }
}

#[test]
fn every_kind_of_problem_has_a_code_of_its_own() {
    let mut codes: Vec<_> = CATALOGUE.iter().map(|kind| kind.code).collect();
    codes.sort_unstable();
    codes.dedup();
    assert_eq!(codes.len(), CATALOGUE.len());
    for kind in CATALOGUE {
        assert!(
            kind.status.is_client_error() || kind.status.as_u16() == 503,
            "{}",
            kind.code
        );
    }
}
