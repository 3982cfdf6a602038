//! For load balancers and monitoring.

use ropeline_core::RoomId;
use ropeline_server::error::CATALOGUE;
use ropeline_testing::http::Ask;
use serde_json::json;

use crate::app::{TOKENS, TestApp, VERIFY};

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
        "ropeline_http_rate_limited_total 0",
        r#"ropeline_room_state{room="main",state="open"} 1"#,
        r#"ropeline_room_state{room="main",state="paused"} 0"#,
        r#"ropeline_room_batch{room="main"} 1"#,
        r#"ropeline_room_waiting_max{room="main"} 5000000"#,
        concat!(
            r#"ropeline_build_info{version=""#,
            env!("CARGO_PKG_VERSION"),
            r#""} 1"#
        ),
    ] {
        assert!(
            text.lines().any(|known| known == line),
            "{line} is not in\n{text}"
        );
    }
}

#[test]
fn the_gate_counts_what_it_answers_by_room() {
    let mut app = TestApp::new();
    let inside = app.token_of("ann");
    let waiting = app.token_of("bob");
    for token in [&inside, &inside, &waiting] {
        app.verify(token);
    }
    app.send(Ask::delete(TOKENS).token(&inside));
    app.verify(&inside);
    app.send(Ask::get(VERIFY));
    app.send(Ask::get("/api/v1/queue/verify?room=nowhere"));
    let gatekeeper = app.gatekeeper();
    let room = RoomId::main();
    let asked = gatekeeper.verify(&room, "nonsense");
    app.run(asked).unwrap();
    // The probe of a service asks about nobody.
    app.run(gatekeeper.ready(&room)).unwrap();
    let reply = app.send(Ask::get("/metrics"));
    let text = String::from_utf8(reply.body).unwrap();
    let counted: Vec<_> = text
        .lines()
        .filter_map(|line| line.strip_prefix("ropeline_gate_answers_total"))
        .collect();
    assert_eq!(
        counted,
        [
            r#"{outcome="admitted",room="main"} 2"#,
            r#"{outcome="waiting",room="main"} 1"#,
            r#"{outcome="ended",room="main"} 1"#,
            r#"{outcome="no_token",room="main"} 2"#,
            r#"{outcome="unchecked",room="main"} 0"#,
            r#"{outcome="unavailable",room="main"} 0"#,
        ]
    );
}

#[test]
fn figures_that_a_room_does_not_have_are_left_out() {
    let mut app = TestApp::new();
    let has = |app: &mut TestApp, name: &str| {
        let reply = app.send(Ask::get("/metrics"));
        let text = String::from_utf8(reply.body).unwrap();
        text.lines().any(|line| line.starts_with(name))
    };
    for name in [
        "ropeline_room_active_max",
        "ropeline_room_seats_left",
        "ropeline_room_estimate",
    ] {
        assert!(!has(&mut app, name), "{name}");
    }
    app.stock(Some(3));
    assert!(has(&mut app, r#"ropeline_room_seats_left{room="main"} 3"#));
    for name in [
        "process_cpu_seconds_total ",
        "process_resident_memory_bytes ",
        "process_open_fds ",
        "process_max_fds ",
        "process_start_time_seconds ",
    ] {
        assert!(has(&mut app, name), "{name}");
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
