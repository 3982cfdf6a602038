//! Problems are whole, whatever stands around the gate.

use std::{convert::Infallible, net::SocketAddr};

use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use ropeline_testing::http::{Ask, Client, Reply};
use ropeline_web::{Limits, Server, Tasks};
use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
    task::yield_now,
};
use tower::{Layer, ServiceExt, service_fn};

use crate::{
    behind::{gate, shop},
    doorman::Doorman,
};

fn is_whole(reply: &Reply) {
    assert_eq!(reply.status, 403);
    assert_eq!(
        reply.header("content-type"),
        Some("application/problem+json")
    );
    assert_eq!(reply.header("cache-control"), Some("no-store"));
    assert_eq!(reply.header("x-request-id"), Some("ours-1"));
    let ids = reply
        .headers
        .iter()
        .filter(|(name, _)| name == "x-request-id");
    assert_eq!(ids.count(), 1);
    let problem = reply.json();
    assert_eq!(problem["requestId"], "ours-1");
    assert_eq!(problem["code"], "NOT_ADMITTED");
    assert_eq!(problem["position"], 3);
}

async fn ask(address: SocketAddr) -> Reply {
    let asked = tokio::task::spawn_blocking(move || {
        let ask = Ask::get("/pay")
            .token("wait-3")
            .header("X-Request-Id", "ours-1");
        Client::connect(address).unwrap().send(&ask)
    });
    asked.await.unwrap()
}

#[tokio::test]
async fn behind_our_own_server() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let server = Server::new(shop(gate(Doorman::default())), Limits::default());
    Tasks::new().spawn(server.serve(listener, std::future::pending()));
    is_whole(&ask(address).await);
}

#[tokio::test]
async fn a_refused_request_whose_body_comes_after_its_head_keeps_the_connection() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let server = Server::new(shop(gate(Doorman::default())), Limits::default());
    Tasks::new().spawn(server.serve(listener, std::future::pending()));
    let mut stream = BufReader::new(TcpStream::connect(address).await.unwrap());
    stream.get_ref().set_nodelay(true).unwrap();
    let tokens = [("wait-3", 403), ("gone", 401), ("in-42", 200)];
    for (token, status) in tokens.into_iter().cycle().take(30) {
        let head = format!(
            "POST /pay HTTP/1.1\r\nHost: test\r\nX-Queue-Token: {token}\r\nContent-Length: 2\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        // The server acts on the head.
        for _ in 0..5 {
            yield_now().await;
        }
        stream.write_all(b"{}").await.unwrap();
        let answer = read_head(&mut stream).await;
        assert!(
            answer.starts_with(&format!("http/1.1 {status} ")),
            "{answer}"
        );
        assert!(!answer.contains("connection: close"), "{answer}");
    }
}

/// Reads a whole answer; its head, in small letters.
async fn read_head(stream: &mut BufReader<TcpStream>) -> String {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        let read = stream.read_line(&mut head).await.unwrap();
        assert_ne!(read, 0, "the connection ended after {head:?}");
    }
    let head = head.to_ascii_lowercase();
    let length = head.split("content-length: ").nth(1).unwrap();
    let length = length.lines().next().unwrap().parse().unwrap();
    stream.read_exact(&mut vec![0; length]).await.unwrap();
    head
}

#[tokio::test]
async fn behind_the_framework_alone() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let shop = shop(gate(Doorman::default()));
    Tasks::new().spawn(async { axum::serve(listener, shop).await });
    is_whole(&ask(address).await);
}

#[tokio::test]
async fn before_a_service_of_any_kind() {
    let service = service_fn(async |_: Request<()>| {
        Ok::<_, Infallible>(Response::new(Full::<axum::body::Bytes>::from("inside")))
    });
    let service = gate(Doorman::default()).layer(service);
    let ask = |token: &str| Request::get("/").header("token", token).body(()).unwrap();
    let entered = service.clone().oneshot(ask("in-42")).await.unwrap();
    assert_eq!(entered.status(), 200);
    let refused = service.oneshot(ask("done")).await.unwrap();
    assert_eq!(refused.status(), 401);
    let body = refused.into_body().collect().await.unwrap().to_bytes();
    let problem: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(problem["code"], "TOKEN_EXPIRED");
    assert!(
        problem["requestId"]
            .as_str()
            .is_some_and(|id| !id.is_empty())
    );
}
