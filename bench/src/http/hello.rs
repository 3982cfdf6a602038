//! The yardstick: a bare axum server with a real router and an answer as long as a place view.

use std::{
    env,
    io::{self, BufRead as _, BufReader, Write as _},
    net::SocketAddr,
    process::{Child, Command, Stdio},
    thread,
};

use axum::{Json, Router, extract::Path, routing::get};
use serde::Serialize;
use tokio::{net::TcpListener, runtime::Runtime, sync::oneshot};

use crate::Result;

/// The yardstick in a process of its own, as the product is.
#[derive(Debug)]
pub(crate) struct Hello {
    child: Child,
    address: SocketAddr,
}

impl Hello {
    pub(crate) fn start() -> Result<Self> {
        let mut child = Command::new(env::current_exe()?)
            .arg("hello")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let stdout = child.stdout.take().ok_or("the output was asked for")?;
        let mut address = String::new();
        BufReader::new(stdout).read_line(&mut address)?;
        let address = address.trim().parse()?;
        Ok(Self { child, address })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Hello {
    fn drop(&mut self) {
        // Closing its input ends it; see `serve`.
        drop(self.child.stdin.take());
        self.child.wait().ok();
    }
}

/// Serves until standard input is closed, so it never outlives the benchmark that started it.
pub(crate) fn serve() -> Result<()> {
    let (closed, until_closed) = oneshot::channel();
    thread::spawn(move || {
        io::copy(&mut io::stdin(), &mut io::sink()).ok();
        closed.send(()).ok();
    });
    Runtime::new()?.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        println!("{}", listener.local_addr()?);
        io::stdout().flush()?;
        let router = Router::new().route("/hello/{name}", get(hello));
        tokio::select! {
            served = axum::serve(listener, router) => Ok(served?),
            _ = until_closed => Ok(()),
        }
    })
}

/// Stands in for the token of a place view and for the fields that are not here, so that both answers have
/// about 800 bytes.
const TEXT: &str = include_str!("hello.txt");

/// About as many fields and bytes as a place view.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Greeting {
    name: String,
    text: &'static str,
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

async fn hello(Path(name): Path<String>) -> Json<Greeting> {
    Json(Greeting {
        name,
        text: TEXT,
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
    })
}
