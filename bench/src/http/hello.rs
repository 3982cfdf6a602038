//! The yardstick: a bare axum server with a real router and an answer as long as a place view; and what is left when
//! router and JSON, or axum itself, are taken away.

use std::convert::Infallible;

use axum::{
    Json, Router,
    body::Bytes,
    extract::Path,
    http::{Response, header::CONTENT_TYPE},
    routing::get,
};
use clap::ValueEnum;
use http_body_util::Full;
use hyper::{server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use serde::Serialize;
use tokio::{
    net::{TcpListener, TcpStream},
    runtime::Runtime,
};

use super::child;
use crate::Result;

/// How much of a server there is.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Kind {
    /// A router, a path parameter, and JSON that is made anew for each answer.
    Hello,
    /// axum, and the same bytes for everybody.
    Axum,
    /// The same bytes from hyper alone.
    Hyper,
}

/// What the process that [`super::OwnServer`] starts runs.
pub(crate) fn serve(kind: Kind) -> Result<()> {
    let body = body()?;
    Runtime::new()?.block_on(async {
        match kind {
            Kind::Hello => child::serve(Router::new().route("/hello/{name}", get(hello))).await,
            Kind::Axum => child::serve(fixed(body)).await,
            Kind::Hyper => child::serve_by(|listener| take_all(listener, body)).await,
        }
    })
}

/// The answer to everybody where it is made once.
pub(crate) fn body() -> Result<Bytes> {
    let greeting = serde_json::to_vec(&Greeting::to("world".to_owned()))?;
    Ok(greeting.into())
}

fn fixed(body: Bytes) -> Router {
    let answer = async || ([(CONTENT_TYPE, "application/json")], body);
    Router::new().route("/hello/world", get(answer))
}

async fn take_all(listener: TcpListener, body: Bytes) -> Result<()> {
    loop {
        let (stream, _) = listener.accept().await?;
        tokio::spawn(answer_all(stream, body.clone()));
    }
}

async fn answer_all(stream: TcpStream, body: Bytes) {
    let service = service_fn(|_| {
        let body = Full::new(body.clone());
        let answer = Response::builder().header(CONTENT_TYPE, "application/json");
        async { Ok::<_, Infallible>(answer.body(body).expect("the header is well formed")) }
    });
    // A client that breaks off is no concern of a yardstick.
    let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
    connection.await.ok();
}

/// Stands in for the token of a place view and for the fields that are not here, so that both answers have
/// about 800 bytes.
const TOKEN: &str = include_str!("hello.txt");

/// About as many fields and bytes as a place view.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Greeting {
    name: String,
    token: &'static str,
    ordinal: u64,
    status: &'static str,
    position: u64,
    ahead: u64,
    behind: u64,
    eta_seconds: u64,
    admit_at: &'static str,
    issued_at: &'static str,
    expires_at: Option<&'static str>,
    poll_after_ms: u64,
    version: u64,
}

impl Greeting {
    fn to(name: String) -> Self {
        Self {
            name,
            token: TOKEN,
            ordinal: 1_208,
            status: "WAITING",
            position: 8,
            ahead: 7,
            behind: 120,
            eta_seconds: 35,
            admit_at: "2026-01-01T10:00:35Z",
            issued_at: "2026-01-01T10:00:00Z",
            expires_at: None,
            poll_after_ms: 2_000,
            version: 5_521,
        }
    }
}

async fn hello(Path(name): Path<String>) -> Json<Greeting> {
    Json(Greeting::to(name))
}
