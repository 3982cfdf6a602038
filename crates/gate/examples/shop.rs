//! A shop behind the gate: `cargo run -p ropeline-gate --example shop -- http://127.0.0.1:8080 SERVICE_KEY`.
//!
//! Then open <http://127.0.0.1:3000/>. Who comes first is inside; who comes when the room is full is told their position.

use std::{error::Error, sync::Arc};

use axum::{Extension, Router, routing::get};
use ropeline_core::RoomId;
use ropeline_gate::{Admitted, Gate, HttpGatekeeper, HttpOptions};
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (url, key) = (arguments.next(), arguments.next());
    let (url, key) = url
        .zip(key)
        .ok_or("give the room's address and the service key")?;

    let room = HttpGatekeeper::new(&url, &key, HttpOptions::default())?;
    let gate = Gate::new(RoomId::main(), Arc::new(room))
        .exempt("/healthz")
        .issue_missing()
        .join_at(&format!("{url}/wait/main"));
    let shop = Router::new()
        .route("/", get(shop))
        .route("/healthz", get(|| async { "ok" }))
        .layer(gate);

    let listener = TcpListener::bind("127.0.0.1:3000").await?;
    Ok(axum::serve(listener, shop).await?)
}

async fn shop(visitor: Option<Extension<Admitted>>) -> String {
    let user = visitor.as_ref().and_then(|visitor| visitor.user_id());
    format!("Welcome, {}.\n", user.unwrap_or("whoever you are"))
}
