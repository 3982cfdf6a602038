//! The gate before a service: nobody reaches it without a live pass of a waiting room.
//!
//! [`Gate`] is a tower layer. A [`Gatekeeper`] knows the room: [`HttpGatekeeper`] asks a Ropeline server, and a server
//! that runs in the same process gives one of its own.
//!
//! ```no_run
//! use std::sync::Arc;
//!
//! use axum::{Extension, Router, routing::get};
//! use ropeline_core::RoomId;
//! use ropeline_gate::{Admitted, Gate, HttpGatekeeper, HttpOptions};
//!
//! async fn shop(Extension(visitor): Extension<Admitted>) -> String {
//!     format!("Welcome, {}.", visitor.user_id().unwrap_or("whoever you are"))
//! }
//!
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! let room = HttpGatekeeper::new("http://127.0.0.1:8080", "the service key", HttpOptions::default())?;
//! let gate = Gate::new(RoomId::main(), Arc::new(room)).exempt("/healthz").issue_missing();
//! let service = Router::new()
//!     .route("/", get(shop))
//!     .route("/healthz", get(|| async { "ok" }))
//!     .layer(gate);
//! axum::serve(tokio::net::TcpListener::bind("127.0.0.1:3000").await?, service).await?;
//! # Ok(())
//! # }
//! ```
//!
//! Nothing of a token is believed here: each request is asked about, and the pass is renewed by that. A room that cannot
//! be asked within a few seconds is dealt with as [`Failure`] says, by default by refusing.

mod keeper;
pub mod kinds;

mod credentials;
mod error;
mod exempt;
mod layer;

mod judge;
mod service;

mod over_http;
mod trouble;

pub use credentials::{Cookies, header_token};
pub use error::RETRY_FULL;
pub use keeper::{Admitted, Decision, GateError, Gatekeeper, Refusal, Ticket, Waiting};
pub use layer::{Failure, Gate};
pub use over_http::{HttpGatekeeper, HttpOptions, HttpSetupError};
pub use service::Gated;
