//! The yardstick: a bare axum server with a real router and an answer as long as a place view.

use axum::{Json, Router, extract::Path, routing::get};
use serde::Serialize;
use tokio::runtime::Runtime;

use super::child;
use crate::Result;

/// What the process that [`super::OwnServer`] starts runs.
pub(crate) fn serve() -> Result<()> {
    let router = Router::new().route("/hello/{name}", get(hello));
    Runtime::new()?.block_on(child::serve(router))
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
