//! What a client is told about the values it sent.

use ropeline_web::Limits;
use serde_json::json;

use crate::harness::{Answer, Served, get_request, post_json};

async fn order(body: &str) -> Answer {
    Served::new(Limits::default())
        .await
        .ask(&post_json("/order", body))
        .await
}

#[tokio::test]
async fn an_empty_body_is_an_empty_object() {
    let served = Served::new(Limits::default()).await;
    let answer = served.ask("POST /order HTTP/1.1\r\nHost: a\r\n\r\n").await;
    assert_eq!(answer.json(), json!({"note": "", "seats": []}));
    assert_eq!(answer.header("content-type"), Some("application/json"));
}

#[tokio::test]
async fn a_body_of_another_type_is_told_which_to_send() {
    let served = Served::new(Limits::default()).await;
    for content_type in [
        "",
        "Content-Type: text/plain\r\n",
        "Content-Type: application/jsonx\r\n",
    ] {
        let request = format!(
            "POST /order HTTP/1.1\r\nHost: a\r\n{content_type}Content-Length: 2\r\n\r\n{{}}"
        );
        let detail = served.ask(&request).await.problem(415);
        assert!(detail.contains("application/json"), "{detail}");
    }
    let request = "POST /order HTTP/1.1\r\nHost: a\r\nContent-Type: Application/JSON; charset=utf-8\
                   \r\nContent-Length: 2\r\n\r\n{}";
    assert_eq!(served.ask(request).await.status, 200);
}

#[tokio::test]
async fn what_is_not_json_is_400_with_its_place() {
    for (body, place) in [
        ("{\n  \"note\": NaN}", "line 2, column 11"),
        ("{\"note\":\"a\",\"note\":\"b\"}", "line 1, column 18"),
        ("{\"note\":\"a\"} x", "line 1, column 14"),
        ("{\"note\":", "line 1, column 8"),
        ("{\"note\":\"a\0\"}", "line 1, column 11"),
    ] {
        let detail = order(body).await.problem(400);
        assert!(detail.contains(place), "{body:?}: {detail}");
    }
}

#[tokio::test]
async fn bytes_that_are_not_utf8_are_400_with_their_place() {
    let served = Served::new(Limits::default()).await;
    let mut client = served.client().await;
    let mut request = post_json("/order", "{\n\"note\":\"??\"}").into_bytes();
    let at = request.iter().rposition(|byte| *byte == b'?').unwrap();
    request[at] = 0xff;
    client.send(request).await;
    let detail = client.answer().await.problem(400);
    assert_eq!(
        detail,
        "The body is not valid JSON at line 2, column 10: not UTF-8."
    );
}

#[tokio::test]
async fn json_that_is_nested_too_deep_is_400() {
    for (depth, status) in [(100, 200), (20_000, 400)] {
        let deep = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        let answer = order(&format!(r#"{{"extra":{deep}}}"#)).await;
        assert_eq!(answer.status, status, "{}", answer.body);
    }
}

#[tokio::test]
async fn a_value_of_the_wrong_type_is_422_with_its_path() {
    for value in [
        "\"x\"",
        "256",
        "-1",
        "-0",
        "1.5",
        "9223372036854775808",
        "null",
    ] {
        let answer = order(&format!(r#"{{"seats":[{{"row":1}},{{"row":{value}}}]}}"#)).await;
        answer.problem(422);
        assert_eq!(
            answer.json()["errors"][0]["field"],
            "seats[1].row",
            "{answer:?}"
        );
    }
}

#[tokio::test]
async fn unknown_and_missing_fields_are_named() {
    for (body, field) in [
        (r#"{"nota":"a"}"#, "nota"),
        (r#"{"seats":[{"row":1,"x":2}]}"#, "seats[0].x"),
        (r#"{"seats":[{}]}"#, "seats[0].row"),
    ] {
        let answer = order(body).await;
        answer.problem(422);
        assert_eq!(answer.json()["errors"][0]["field"], field, "{answer:?}");
    }
}

#[tokio::test]
async fn what_is_quoted_from_the_client_is_cut() {
    let answer = order(&format!(r#"{{"{}":1}}"#, "x".repeat(10_000))).await;
    answer.problem(422);
    assert!(answer.body.len() < 1_500, "{}", answer.body.len());
}

#[tokio::test]
async fn a_wrong_query_is_400_with_its_field() {
    let served = Served::new(Limits::default()).await;
    assert_eq!(
        served.ask(&get_request("/page?limit=5")).await.body,
        r#"{"limit":5}"#
    );
    for (query, field) in [
        ("limit=x", "limit"),
        ("", "limit"),
        ("limit=1&other=2", "other"),
    ] {
        let answer = served.ask(&get_request(&format!("/page?{query}"))).await;
        answer.problem(400);
        assert_eq!(answer.json()["errors"][0]["field"], field, "{answer:?}");
    }
}

#[tokio::test]
async fn a_wrong_path_is_400() {
    let served = Served::new(Limits::default()).await;
    assert_eq!(served.ask(&get_request("/rows/7")).await.body, "7");
    let answer = served.ask(&get_request("/rows/x")).await;
    assert!(
        answer.problem(400).starts_with("The path parameter"),
        "{answer:?}"
    );
    served.ask(&get_request("/rows/%ff")).await.problem(400);
}
