//! Heads that are too large, or that two parties could read in two ways.

use std::fmt::Write;

use ropeline_web::Limits;
use tokio::task::yield_now;

use crate::harness::{Served, get_request};

/// Sends `request`, expects a problem and the end of the connection, and a server that goes on.
async fn refused(limits: Limits, request: &str, status: u16) -> String {
    let served = Served::new(limits).await;
    let mut client = served.client().await;
    client.send(request).await;
    let answer = client.answer().await;
    let detail = answer.problem(status);
    assert_eq!(answer.header("connection"), Some("close"));
    client.ends().await;
    assert_eq!(served.ask(&get_request("/hello")).await.status, 200);
    detail
}

async fn bad(request: &str) -> String {
    refused(Limits::default(), request, 400).await
}

fn with_headers(count: usize) -> String {
    let mut request = "GET /hello HTTP/1.1\r\nHost: test\r\n".to_owned();
    for number in 1..count {
        write!(request, "x-{number}: 1\r\n").unwrap();
    }
    request + "\r\n"
}

fn of_bytes(bytes: usize) -> String {
    let frame = "GET /hello HTTP/1.1\r\nHost: test\r\nx: \r\n\r\n".len();
    let filling = "a".repeat(bytes - frame);
    format!("GET /hello HTTP/1.1\r\nHost: test\r\nx: {filling}\r\n\r\n")
}

#[tokio::test]
async fn one_header_too_many_is_431() {
    let served = Served::new(Limits::default()).await;
    assert_eq!(served.ask(&with_headers(100)).await.status, 200);
    let detail = refused(Limits::default(), &with_headers(101), 431).await;
    assert_eq!(detail, "The request has too many headers.");
}

#[tokio::test]
async fn one_byte_too_many_is_431() {
    let served = Served::new(Limits::default()).await;
    assert_eq!(served.ask(&of_bytes(16 * 1024)).await.status, 200);
    let detail = refused(Limits::default(), &of_bytes(16 * 1024 + 1), 431).await;
    assert_eq!(detail, "The head of the request has too many bytes.");
}

#[tokio::test]
async fn a_bomb_of_headers_is_431() {
    refused(Limits::default(), &with_headers(1_000), 431).await;
    refused(Limits::default(), &of_bytes(256 * 1024), 431).await;
}

#[tokio::test]
async fn a_head_in_single_bytes_is_one_head() {
    let served = Served::new(Limits::default()).await;
    let mut client = served.client().await;
    client.stream.set_nodelay(true).unwrap();
    let request = "POST /order HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\n\
                   Transfer-Encoding: chunked\r\n\r\n3\r\n{\"n\r\n9;x=y\r\note\":\"a\"}\r\n0\r\n\r\n";
    for byte in request.as_bytes() {
        client.send([*byte]).await;
        tokio::task::yield_now().await;
    }
    assert_eq!(client.answer().await.body, r#"{"note":"a","seats":[]}"#);

    // The end of the chunked body was found, so the next head is judged as one.
    client.send("GET /hello HTTP/1.1\nHost: test\n\n").await;
    client.answer().await.problem(400);
}

#[tokio::test]
async fn two_ways_to_end_a_body_are_refused() {
    for request in [
        "POST /order HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "POST /order HTTP/1.1\r\nHost: a\r\ntransfer-encoding:chunked\r\ncontent-length:4\r\n\r\n0\r\n\r\n",
    ] {
        let detail = bad(request).await;
        assert!(detail.contains("both"), "{detail}");
    }
}

#[tokio::test]
async fn lengths_that_are_not_one_number_are_refused() {
    for value in [
        "4, 4",
        "+4",
        "4\r\nContent-Length: 4",
        "0x4",
        "",
        "99999999999999999999",
    ] {
        bad(&format!(
            "POST /order HTTP/1.1\r\nHost: a\r\nContent-Length: {value}\r\n\r\n"
        ))
        .await;
    }
}

#[tokio::test]
async fn codings_other_than_chunked_are_refused() {
    for value in [
        "gzip, chunked",
        "chunked, identity",
        "xchunked",
        "chunked\r\nTransfer-Encoding: chunked",
    ] {
        bad(&format!(
            "POST /order HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: {value}\r\n\r\n"
        ))
        .await;
    }
}

/// The size is 53 to hyper; a checker that reads only the start of the line takes it for 0, and
/// the data for the next head.
#[tokio::test]
async fn a_padded_chunk_size_in_two_pieces_is_refused() {
    let served = Served::new(Limits::default()).await;
    let mut client = served.client().await;
    client
        .send("POST /order HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
        .await;
    for piece in ["0".repeat(70), format!("{}35\r\n", "0".repeat(10))] {
        yield_now().await;
        client.send(piece).await;
    }
    let answer = client.answer().await;
    assert_eq!(answer.problem(400), "The chunked body is malformed.");
    assert_eq!(answer.header("connection"), Some("close"));
    client.ends().await;
}

#[tokio::test]
async fn lines_without_cr_are_refused() {
    for request in [
        "GET /hello HTTP/1.1\nHost: test\n\n",
        "GET /hello HTTP/1.1\r\nHost: test\nx: y\r\n\r\n",
        "GET /hello HTTP/1.1\r\nHost: test\r\n\n",
        "\nGET /hello HTTP/1.1\r\nHost: test\r\n\r\n",
    ] {
        assert_eq!(
            bad(request).await,
            "Lines of the head have to end with CR LF."
        );
    }
}

#[tokio::test]
async fn an_empty_line_before_a_request_is_ignored() {
    let served = Served::new(Limits::default()).await;
    assert_eq!(
        served
            .ask(&format!("\r\n{}", get_request("/hello")))
            .await
            .status,
        200
    );
}

#[tokio::test]
async fn what_hyper_cannot_parse_is_a_problem_too() {
    for request in [
        "GET /hello HTTP/1.1\r\nHost: test\r\nx: a\r\n b\r\n\r\n",
        "GET /hello HTTP/1.1\r\nHost : test\r\n\r\n",
        "GET /hello HTTP/1.1\r\nHost: test\r\nx: a\0b\r\n\r\n",
        "GET /hello HTTP/1.1\r\nHost: test\r\nx: a\rb\r\n\r\n",
        "GET /hello HTTP/9.9\r\nHost: test\r\n\r\n",
        "GET  /hello HTTP/1.1\r\nHost: test\r\n\r\n",
        "G@T /hello HTTP/1.1\r\nHost: test\r\n\r\n",
        "\x16\x03\x01\x02 hello over TLS\r\n\r\n",
    ] {
        assert_eq!(
            bad(request).await,
            "The head of the request is malformed.",
            "{request:?}"
        );
    }
}

#[tokio::test]
async fn a_request_has_exactly_one_host() {
    bad("GET /hello HTTP/1.1\r\n\r\n").await;
    bad("GET /hello HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n").await;
    bad("GET http://b/hello HTTP/1.1\r\nHost: a\r\n\r\n").await;

    let served = Served::new(Limits::default()).await;
    assert_eq!(
        served
            .ask("GET http://A/hello HTTP/1.1\r\nHost: a\r\n\r\n")
            .await
            .status,
        200
    );
    assert_eq!(served.ask("GET /hello HTTP/1.0\r\n\r\n").await.status, 200);
}

#[tokio::test]
async fn requests_sent_at_once_are_answered_in_order() {
    let served = Served::new(Limits::default()).await;
    let mut client = served.client().await;
    let order = "POST /order HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n\
                 Content-Length: 12\r\n\r\n{\"note\":\"a\"}";
    client
        .send(format!(
            "{}{order}{}",
            get_request("/hello"),
            get_request("/id")
        ))
        .await;
    assert_eq!(client.answer().await.body, "hello");
    assert_eq!(client.answer().await.body, r#"{"note":"a","seats":[]}"#);
    assert_eq!(client.answer().await.status, 200);
}
