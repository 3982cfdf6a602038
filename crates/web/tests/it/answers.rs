//! What every answer has, and what a failure looks like.

use ropeline_web::Limits;
use serde_json::json;

use crate::harness::{Served, get_request, post_json};

#[tokio::test]
async fn a_problem_has_every_member_and_nothing_else() {
    let served = Served::new(Limits::default()).await;
    let answer = served
        .ask("GET /expired HTTP/1.1\r\nHost: test\r\nX-Request-Id: r-1\r\n\r\n")
        .await;
    let expected = json!({
        "type": "/problems/token-expired",
        "title": "Token expired",
        "status": 401,
        "code": "TOKEN_EXPIRED",
        "detail": "This token has expired.",
        "requestId": "r-1",
        "errors": [{"field": "token", "message": "expired"}],
        "position": 7,
    });
    assert_eq!(answer.status, 401);
    assert_eq!(answer.json(), expected);
    assert_eq!(
        answer.header("content-type"),
        Some("application/problem+json")
    );
    assert_eq!(answer.header("retry-after"), Some("2"));
}

#[tokio::test]
async fn an_address_without_a_route_is_a_problem() {
    let served = Served::new(Limits::default()).await;
    let answer = served
        .ask("GET /none HTTP/1.1\r\nHost: test\r\nX-Request-Id: r\r\n\r\n")
        .await;
    let expected = json!({
        "type": "/problems/not-found",
        "title": "Not found",
        "status": 404,
        "code": "NOT_FOUND",
        "detail": "There is nothing at this address.",
        "requestId": "r",
        "errors": [],
    });
    assert_eq!(answer.status, 404);
    assert_eq!(answer.json(), expected);
}

#[tokio::test]
async fn a_wrong_method_is_told_the_right_ones() {
    let served = Served::new(Limits::default()).await;
    let answer = served
        .ask("DELETE /hello HTTP/1.1\r\nHost: test\r\n\r\n")
        .await;
    answer.problem(405);
    assert_eq!(answer.header("allow"), Some("GET,HEAD"));
}

#[tokio::test]
async fn a_plain_error_that_is_meant_as_it_is_stays_so() {
    let served = Served::new(Limits::default()).await;
    let answer = served.ask(&get_request("/verbatim")).await;
    assert_eq!((answer.status, answer.body.as_str()), (404, "as it is"));
}

#[tokio::test]
async fn a_panic_is_a_problem_that_tells_nothing() {
    let served = Served::new(Limits::default()).await;
    let mut client = served.client().await;
    client.send(get_request("/panic")).await;
    let answer = client.answer().await;
    assert_eq!(
        answer.problem(500),
        "The service could not answer this request."
    );
    assert!(!answer.body.contains("secret"));

    client.send(get_request("/hello")).await;
    assert_eq!(client.answer().await.body, "hello");
}

#[tokio::test]
async fn what_goes_past_the_router_is_guarded_and_counted_as_all_else() {
    let served = Served::new(Limits::default()).await;
    let mut client = served.client().await;
    for (path, status) in [
        ("now", 200),
        ("later", 200),
        ("panic", 500),
        ("panic-later", 500),
    ] {
        client.send(get_request(&format!("/short/{path}"))).await;
        let answer = client.answer().await;
        if status == 200 {
            assert_eq!(answer.body, path);
        } else {
            answer.problem(status);
        }
        assert!(!answer.body.contains("secret"));
        assert_eq!(answer.header("cache-control"), Some("no-store"), "{path}");
        assert!(answer.header("x-request-id").is_some(), "{path}");
    }
    client.send(get_request("/short/none")).await;
    client.answer().await.problem(404);
    let statuses = served.statuses.lock().unwrap().clone();
    assert_eq!(statuses, [200, 200, 500, 500, 404]);
}

#[tokio::test]
async fn what_goes_past_the_router_has_the_peer_and_the_body_within_its_limits() {
    let served = Served::new(Limits {
        body_bytes_max: 100,
        ..Limits::default()
    })
    .await;
    let mut client = served.client().await;
    client.send(get_request("/short/peer")).await;
    let own = client.stream.local_addr().unwrap();
    assert_eq!(client.answer().await.body, own.to_string());
    let order = r#"{"note":"by the aisle","seats":[]}"#;
    client.send(post_json("/short/order", order)).await;
    assert_eq!(client.answer().await.body, order);
    let long = format!(r#"{{"note":"{}"}}"#, "x".repeat(100));
    client.send(post_json("/short/order", &long)).await;
    client.answer().await.problem(413);
    client.ends().await;
}

#[tokio::test]
async fn a_plain_request_id_is_taken_over() {
    let served = Served::new(Limits::default()).await;
    let answer = served
        .ask("GET /id HTTP/1.1\r\nHost: test\r\nX-Request-Id: a.B-1_\r\n\r\n")
        .await;
    assert_eq!(answer.header("x-request-id"), Some("a.B-1_"));
    assert_eq!(answer.body, "a.B-1_");
}

#[tokio::test]
async fn a_request_id_that_could_forge_a_log_line_is_replaced() {
    let served = Served::new(Limits::default()).await;
    for offered in ["a b", "a\"b", "\u{202e}", &"a".repeat(65), ""] {
        let request = format!("GET /id HTTP/1.1\r\nHost: test\r\nX-Request-Id: {offered}\r\n\r\n");
        let answer = served.ask(&request).await;
        assert_eq!(answer.header("x-request-id"), Some(answer.body.as_str()));
        assert_eq!(answer.body.len(), 20, "{answer:?}");
    }
}

#[tokio::test]
async fn every_answer_has_the_security_headers() {
    let served = Served::new(Limits::default()).await;
    for path in ["/hello", "/none", "/panic"] {
        let answer = served.ask(&get_request(path)).await;
        for (name, value) in [
            ("x-content-type-options", "nosniff"),
            ("cache-control", "no-store"),
            (
                "content-security-policy",
                "default-src 'none'; frame-ancestors 'none'",
            ),
        ] {
            assert_eq!(answer.header(name), Some(value), "{path} {name}");
        }
    }
}

#[tokio::test]
async fn a_header_of_the_handler_wins_over_the_default() {
    let served = Served::new(Limits::default()).await;
    let answer = served.ask(&get_request("/cached")).await;
    assert_eq!(answer.header("cache-control"), Some("max-age=60"));
    assert_eq!(answer.head.matches("cache-control").count(), 1);
}

#[tokio::test]
async fn head_has_the_length_and_no_body() {
    let served = Served::new(Limits::default()).await;
    for (path, status) in [("/hello", 200), ("/expired", 401), ("/none", 404)] {
        let mut client = served.client().await;
        client.send(get_request(path)).await;
        let full = client.answer().await;

        client
            .send(format!("HEAD {path} HTTP/1.1\r\nHost: test\r\n\r\n"))
            .await;
        let head = client.answer_to("HEAD").await;
        assert_eq!(head.status, status);
        assert_eq!(
            head.header("content-length"),
            full.header("content-length"),
            "{path}"
        );

        // A body after the head would be read as the start of this answer.
        client.send(get_request("/hello")).await;
        assert_eq!(client.answer().await.body, "hello");
    }
}

#[tokio::test]
async fn handlers_see_the_address_of_the_peer() {
    let served = Served::new(Limits::default()).await;
    let mut client = served.client().await;
    client.send(get_request("/peer")).await;
    let own = client.stream.local_addr().unwrap().to_string();
    assert_eq!(client.answer().await.body, own);
}

#[tokio::test]
async fn the_observer_is_told_of_answers_and_of_refusals() {
    let served = Served::new(Limits::default()).await;
    served.ask(&get_request("/hello")).await;
    served.ask(&get_request("/panic")).await;
    served.ask("GET /hello HTTP/1.1\nHost: test\n\n").await;
    assert_eq!(*served.statuses.lock().unwrap(), [200, 500, 400]);
}
