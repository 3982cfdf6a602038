//! Bad input gets a 4xx problem with a code and the field at fault, and changes nothing.

use ropeline_testing::http::{Ask, Reply};
use serde_json::json;

use crate::app::{ADMIN_KEY, STATUS, TOKENS, TestApp, VERIFY};

fn problem(reply: &Reply) -> (u16, String, String) {
    let body = reply.json();
    assert_eq!(
        reply.header("content-type"),
        Some("application/problem+json")
    );
    assert_eq!(body["status"], reply.status);
    assert_eq!(body["requestId"].as_str(), reply.header("x-request-id"));
    let field = body["errors"][0]["field"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    (reply.status, reply.code(), field)
}

#[test]
fn a_join_that_makes_no_sense_is_refused_and_gives_no_place() {
    let mut app = TestApp::new();
    let long = "x".repeat(10_000);
    let deep = format!("{}{}", "[".repeat(5_000), "]".repeat(5_000));
    let cases: Vec<(Vec<u8>, u16, &str)> = vec![
        (b"{".to_vec(), 400, ""),
        (b"nonsense".to_vec(), 400, ""),
        (b"{\"userId\": \"a\",}".to_vec(), 400, ""),
        (b"{\"userId\": \"a\", \"userId\": \"b\"}".to_vec(), 400, ""),
        (b"{\"userId\": NaN}".to_vec(), 400, ""),
        (b"{\"userId\": \"\xff\"}".to_vec(), 400, ""),
        (format!("{{\"room\": {deep}}}").into_bytes(), 422, "room"),
        (b"[]".to_vec(), 422, "."),
        (b"null".to_vec(), 422, "."),
        (b"{\"userId\": \"\"}".to_vec(), 422, "userId"),
        (
            format!("{{\"userId\": \"{long}\"}}").into_bytes(),
            422,
            "userId",
        ),
        (b"{\"userId\": \"a b\"}".to_vec(), 422, "userId"),
        (b"{\"userId\": \"a\\u0000\"}".to_vec(), 422, "userId"),
        (b"{\"userId\": \"a\\n\"}".to_vec(), 422, "userId"),
        (b"{\"userId\": \"\\uac00\"}".to_vec(), 422, "userId"),
        (b"{\"userId\": 1.5}".to_vec(), 422, "userId"),
        (b"{\"userId\": true}".to_vec(), 422, "userId"),
        (b"{\"userId\": [1]}".to_vec(), 422, "userId"),
        (
            b"{\"userId\": 18446744073709551616}".to_vec(),
            422,
            "userId",
        ),
        (b"{\"room\": \"Main\"}".to_vec(), 422, "room"),
        (b"{\"room\": 1}".to_vec(), 422, "room"),
        (b"{\"rom\": \"main\"}".to_vec(), 422, "rom"),
    ];
    for (body, status, field) in cases {
        let shown = String::from_utf8_lossy(&body[..body.len().min(60)]).into_owned();
        let reply = app.send(Ask::post(TOKENS).raw("application/json", &body));
        let expected = (status, "INVALID_REQUEST".to_owned(), field.to_owned());
        assert_eq!(problem(&reply), expected, "{shown}");
    }
    let wrong_type = app.send(Ask::post(TOKENS).raw("text/plain", b"{}"));
    assert_eq!(problem(&wrong_type).0, 415);
    for key in ["", "a\u{e9}", &"k".repeat(256)] {
        let reply = app.send(Ask::post(TOKENS).header("Idempotency-Key", key));
        assert_eq!(problem(&reply).0, 400, "{key:?}");
    }
    let missing = app.send(Ask::post(TOKENS).json(&json!({"room": "nowhere"})));
    assert_eq!(
        problem(&missing),
        (404, "ROOM_NOT_FOUND".to_owned(), String::new())
    );
    let view = app.send(
        Ask::get("/api/v1/admin/rooms/main")
            .header("Authorization", &format!("Bearer {ADMIN_KEY}")),
    );
    assert_eq!(view.json()["issued"], 0, "nobody has a place");
}

#[test]
fn a_body_of_three_megabytes_and_a_bomb_of_headers_are_refused() {
    let mut app = TestApp::new();
    let huge = vec![b'x'; 3 << 20];
    let mut client = ropeline_testing::http::Client::connect(app.address).unwrap();
    // The server answers before the body is through and closes, so the client may fail to write it.
    if let Ok(reply) = client.try_send(&Ask::post(TOKENS).raw("application/json", &huge)) {
        assert_eq!(problem(&reply).0, 413);
    }
    let mut bomb = Ask::get(STATUS);
    for n in 0..1_000 {
        bomb = bomb.header(&format!("X-{n}"), "boom");
    }
    let mut client = ropeline_testing::http::Client::connect(app.address).unwrap();
    assert_eq!(problem(&client.try_send(&bomb).unwrap()).0, 431);
    let mut client = ropeline_testing::http::Client::connect(app.address).unwrap();
    let long = Ask::get(STATUS).header("X-Long", &"x".repeat(20_000));
    assert_eq!(problem(&client.try_send(&long).unwrap()).0, 431);
    assert_eq!(app.join("ann").status, 201, "the server lives");
}

#[test]
fn unknown_addresses_methods_and_rooms_are_problems_too() {
    let mut app = TestApp::new();
    assert_eq!(problem(&app.send(Ask::get("/nowhere"))).1, "NOT_FOUND");
    let method = app.send(Ask::post(STATUS));
    assert_eq!(
        problem(&method),
        (405, "METHOD_NOT_ALLOWED".to_owned(), String::new())
    );
    assert!(method.header("allow").unwrap().contains("GET"));
    for path in [STATUS, VERIFY] {
        let bad = app.send(Ask::get(&format!("{path}?room=Not%20A%20Slug")));
        assert_eq!(
            problem(&bad),
            (400, "INVALID_REQUEST".to_owned(), "room".to_owned())
        );
        assert_eq!(app.send(Ask::get(path)).code(), "TOKEN_INVALID");
    }
}

#[test]
fn answers_are_not_kept_and_not_framed() {
    let mut app = TestApp::new();
    for reply in [app.join("ann"), app.send(Ask::get("/nowhere"))] {
        assert_eq!(reply.header("cache-control"), Some("no-store"));
        assert_eq!(reply.header("x-content-type-options"), Some("nosniff"));
        assert!(reply.header("content-security-policy").is_some());
    }
}
