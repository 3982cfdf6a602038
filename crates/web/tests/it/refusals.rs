//! Requests that are answered before their body was read.

use ropeline_web::Limits;
use tokio::{task::yield_now, time::Instant};

use crate::harness::{Client, PATIENCE, Served, get_request};

/// Sends a head, lets the server act on it, and sends the body afterwards, as Python's
/// `http.client` does.
async fn send_apart(client: &mut Client, head: &str, body: &str) {
    client.send(head).await;
    for _ in 0..5 {
        yield_now().await;
    }
    client.send(body).await;
}

fn declared(path: &str, bytes: usize, further: &str) -> String {
    format!("POST {path} HTTP/1.1\r\nHost: test\r\nContent-Length: {bytes}\r\n{further}\r\n")
}

fn chunked(path: &str) -> String {
    format!("POST {path} HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n")
}

#[tokio::test]
async fn a_thousand_refused_requests_share_one_connection() {
    let served = Served::new(Limits::default()).await;
    let mut client = served.client().await;
    client.stream.set_nodelay(true).unwrap();
    let refusals = [
        ("/refuse/401", 401),
        ("/refuse/403", 403),
        ("/refuse/413", 413),
        ("/refuse/429", 429),
        ("/none", 404),
        ("/hello", 405),
        ("/short/now", 200),
        ("/unread", 200),
    ];
    for (path, status) in refusals.into_iter().cycle().take(1_000) {
        send_apart(&mut client, &declared(path, 2, ""), "{}").await;
        let answer = client.answer().await;
        assert_eq!(answer.status, status, "{path}");
        assert_eq!(answer.header("connection"), None, "{path}");
    }
    for (path, status) in refusals {
        send_apart(&mut client, &chunked(path), "2\r\n{}\r\n0\r\n\r\n").await;
        assert_eq!(client.answer().await.status, status, "{path}");
    }
    client.send(get_request("/hello")).await;
    assert_eq!(client.answer().await.body, "hello");
}

#[tokio::test]
async fn refused_requests_that_came_whole_or_all_at_once_share_one_connection() {
    let served = Served::new(Limits::default()).await;
    let mut client = served.client().await;
    let whole = declared("/refuse/401", 2, "") + "{}";
    let in_chunks = chunked("/refuse/403") + "1\r\n{\r\n1;x\r\n}\r\n0\r\nX: y\r\n\r\n";
    for _ in 0..3 {
        client.send(&whole).await;
        assert_eq!(client.answer().await.status, 401);
        client.send(&in_chunks).await;
        assert_eq!(client.answer().await.status, 403);
    }
    let all = [&whole[..], &in_chunks, &whole].concat();
    send_apart(&mut client, &all, "").await;
    let (start, end) = all.split_at(all.len() - 1);
    send_apart(&mut client, start, end).await;
    for status in [401, 403, 401, 401, 403, 401] {
        let answer = client.answer().await;
        assert_eq!(answer.status, status);
        assert_eq!(answer.header("connection"), None);
    }
}

#[tokio::test]
async fn a_refused_page_of_another_site_keeps_its_connection() {
    let served = Served::new(Limits::default()).await;
    let mut client = served.client().await;
    let head = declared("/order", 2, "Sec-Fetch-Site: cross-site\r\n");
    for _ in 0..3 {
        send_apart(&mut client, &head, "{}").await;
        let answer = client.answer().await;
        answer.problem(403);
        assert_eq!(answer.header("connection"), None);
    }
}

#[tokio::test]
async fn a_refused_body_that_is_large_announces_the_close() {
    let limits = Limits {
        body_bytes_max: 1_000_000,
        ..Limits::default()
    };
    let served = Served::new(limits).await;
    let large = "x".repeat(64 * 1024 + 1);
    let in_chunks = format!("{:x}\r\n{large}\r\n0\r\n\r\n", large.len());
    for (head, body) in [
        (declared("/refuse/401", large.len(), ""), large),
        (chunked("/refuse/401"), in_chunks),
    ] {
        let mut client = served.client().await;
        client.send(&head).await;
        client.try_send(body.as_bytes()).await;
        let answer = client.answer().await;
        assert_eq!(answer.status, 401, "{head}");
        assert_eq!(answer.header("connection"), Some("close"), "{head}");
        client.ends().await;
    }
}

#[tokio::test]
async fn a_refused_body_that_does_not_come_announces_the_close() {
    let served = Served::new(Limits::default()).await;
    for head in [declared("/refuse/401", 2, ""), chunked("/refuse/401")] {
        let mut client = served.client().await;
        let started = Instant::now();
        client.send(&head).await;
        let answer = client.answer().await;
        assert_eq!(answer.status, 401, "{head}");
        assert_eq!(answer.header("connection"), Some("close"), "{head}");
        client.ends().await;
        assert!(started.elapsed() < PATIENCE / 2, "{:?}", started.elapsed());
    }
}

#[tokio::test]
async fn a_refused_body_that_is_badly_framed_announces_the_close() {
    let served = Served::new(Limits::default()).await;
    let mut client = served.client().await;
    send_apart(&mut client, &chunked("/refuse/401"), "none\r\n").await;
    let answer = client.answer().await;
    assert!(matches!(answer.status, 400 | 401), "{answer:?}");
    assert_eq!(answer.header("connection"), Some("close"));
    client.ends().await;
}

/// The client learns of the refusal without sending the body.
#[tokio::test]
async fn a_client_that_asks_first_is_refused_before_it_sends() {
    let served = Served::new(Limits::default()).await;
    for (path, status) in [("/refuse/401", 401), ("/none", 404)] {
        let mut client = served.client().await;
        let head = declared(path, 2, "Expect: 100-continue\r\n");
        client.send(&head).await;
        let answer = client.answer().await;
        assert_eq!(answer.status, status);
        assert_eq!(answer.header("connection"), Some("close"));
        client.ends().await;
    }
}
