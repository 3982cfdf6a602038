//! Bodies that are too large, too slow or not what they say.

use std::time::Duration;

use ropeline_web::Limits;
use tokio::{io::AsyncWriteExt, time::Instant};

use crate::harness::{SHORT, Served, get_request, post_json};

fn small() -> Limits {
    Limits {
        body_bytes_max: 1_000,
        body: SHORT,
        ..Limits::default()
    }
}

#[tokio::test]
async fn a_declared_body_beyond_the_limit_is_413_before_it_is_sent() {
    let served = Served::new(small()).await;
    for path in ["/order", "/unread"] {
        let mut client = served.client().await;
        client
            .send(format!(
                "POST {path} HTTP/1.1\r\nHost: a\r\nContent-Length: 1001\r\n\r\n"
            ))
            .await;
        let answer = client.answer().await;
        assert_eq!(answer.problem(413), "The body has more than 1000 bytes.");
        assert_eq!(answer.header("connection"), Some("close"));
        client.ends().await;
    }
}

#[tokio::test]
async fn a_large_body_that_is_sent_anyway_does_not_hide_the_answer() {
    let served = Served::new(small()).await;
    let mut client = served.client().await;
    client
        .send("POST /order HTTP/1.1\r\nHost: a\r\nContent-Length: 500000\r\n\r\n")
        .await;
    client.try_send(&vec![b'x'; 500_000]).await;
    client.answer().await.problem(413);
}

#[tokio::test]
async fn a_chunked_body_beyond_the_limit_is_413() {
    let served = Served::new(small()).await;
    let mut client = served.client().await;
    client
        .send("POST /order HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
        .await;
    for _ in 0..3 {
        client.send(format!("1f4\r\n{}\r\n", "x".repeat(500))).await;
    }
    client.answer().await.problem(413);
    client.ends().await;
    assert_eq!(served.ask(&get_request("/hello")).await.status, 200);
}

#[tokio::test]
async fn a_body_at_the_limit_is_read() {
    let served = Served::new(small()).await;
    let body = format!(r#"{{"note":"{}"}}"#, "x".repeat(1_000 - 11));
    assert_eq!(body.len(), 1_000);
    assert_eq!(served.ask(&post_json("/order", &body)).await.status, 200);
}

#[tokio::test]
async fn a_body_is_the_same_in_however_many_pieces_it_comes() {
    let served = Served::new(small()).await;
    let whole = r#"{"note":"in pieces"}"#;
    for (body, chunks) in [
        ("", "0\r\n\r\n"),
        ("", "0\r\nX-Trailer: t\r\n\r\n"),
        (whole, "14\r\n{\"note\":\"in pieces\"}\r\n0\r\n\r\n"),
        (
            whole,
            "1\r\n{\r\n7\r\n\"note\":\r\nb\r\n\"in pieces\"\r\n1\r\n}\r\n0\r\nX-Trailer: t\r\n\r\n",
        ),
    ] {
        let head = "POST /order HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n";
        let declared = format!("{head}Content-Length: {}\r\n\r\n{body}", body.len());
        let chunked = format!("{head}Transfer-Encoding: chunked\r\n\r\n{chunks}");
        let (declared, chunked) = (served.ask(&declared).await, served.ask(&chunked).await);
        assert_eq!(
            (chunked.status, chunked.body),
            (declared.status, declared.body)
        );
    }
}

#[tokio::test]
async fn a_body_that_trickles_is_408() {
    let served = Served::new(small()).await;
    let mut client = served.client().await;
    let started = Instant::now();
    client
        .send("POST /order HTTP/1.1\r\nHost: a\r\nContent-Length: 900\r\n\r\n")
        .await;
    let (reading, mut writing) = client.stream.into_split();
    let trickle = async {
        while writing.write_all(b"x").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let answer = async {
        let mut bytes = vec![0; 64];
        reading.readable().await.unwrap();
        let read = reading.try_read(&mut bytes).unwrap();
        (
            String::from_utf8_lossy(&bytes[..read]).into_owned(),
            started.elapsed(),
        )
    };
    let (answer, elapsed) = tokio::select! { answer = answer => answer, () = trickle => panic!() };
    assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
    assert!((SHORT..SHORT * 5).contains(&elapsed), "{elapsed:?}");
}

#[tokio::test]
async fn a_body_that_ends_early_leaks_no_connection() {
    let served = Served::new(small()).await;
    let mut client = served.client().await;
    client
        .send("POST /order HTTP/1.1\r\nHost: a\r\nContent-Length: 900\r\n\r\nxx")
        .await;
    client.stream.shutdown().await.unwrap();
    served.until_open(0).await;
}

#[tokio::test]
async fn a_compressed_body_is_415() {
    let served = Served::new(small()).await;
    let request = "POST /order HTTP/1.1\r\nHost: a\r\nContent-Encoding: gzip\r\n\
                   Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}";
    let detail = served.ask(request).await.problem(415);
    assert!(detail.contains("Content-Encoding"), "{detail}");
}

#[tokio::test]
async fn a_coding_without_a_body_is_no_matter() {
    let served = Served::new(small()).await;
    let request = "GET /hello HTTP/1.1\r\nHost: a\r\nContent-Encoding: gzip\r\n\r\n";
    assert_eq!(served.ask(request).await.status, 200);
}

#[tokio::test]
async fn a_body_that_nobody_reads_does_not_disturb_the_next_request() {
    let served = Served::new(small()).await;
    let mut client = served.client().await;
    client.send(post_json("/unread", r#"{"note":"a"}"#)).await;
    assert_eq!(client.answer().await.body, "not read");
    client.send(get_request("/hello")).await;
    assert_eq!(client.answer().await.body, "hello");
}

#[tokio::test]
async fn a_client_that_asks_first_is_told_to_go_on() {
    let served = Served::new(small()).await;
    let mut client = served.client().await;
    client
        .send(
            "POST /order HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n\
             Content-Length: 2\r\nExpect: 100-continue\r\n\r\n",
        )
        .await;
    assert_eq!(client.answer().await.status, 100);
    client.send("{}").await;
    assert_eq!(client.answer().await.status, 200);
}
