//! A shop behind a gate.

use std::sync::Arc;

use axum::{
    Extension, Router,
    body::{Body, to_bytes},
    routing::any,
};
use http::{HeaderMap, Request, request};
use ropeline_core::RoomId;
use ropeline_gate::{Admitted, Gate, Gatekeeper};
use serde_json::Value;
use tower::ServiceExt;

pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: String,
}

impl Reply {
    pub(crate) fn problem(&self) -> Value {
        assert_eq!(self.headers["content-type"], "application/problem+json");
        serde_json::from_str(&self.body).unwrap()
    }

    /// The code of a problem with this status.
    pub(crate) fn code(&self, status: u16) -> String {
        assert_eq!(self.status, status, "{}", self.body);
        let problem = self.problem();
        assert_eq!(problem["status"], status);
        problem["code"].as_str().unwrap().to_owned()
    }
}

pub(crate) fn gate(keeper: impl Gatekeeper + 'static) -> Gate {
    Gate::new(RoomId::main(), Arc::new(keeper))
}

/// Tells everybody who they are.
pub(crate) fn shop(gate: Gate) -> Router {
    async fn who(visitor: Option<Extension<Admitted>>) -> String {
        match visitor {
            None => "somebody".to_owned(),
            Some(Extension(admitted)) => admitted.holder.visitor.as_str().to_owned(),
        }
    }
    let cached = [("cache-control", "public, max-age=60")];
    Router::new()
        .route("/", any(who))
        .route("/pay", any(who))
        .route(
            "/assets/style.css",
            any(move || async move { (cached, "free") }),
        )
        .fallback(who)
        .layer(gate)
}

pub(crate) fn get(path: &str) -> request::Builder {
    Request::get(path)
}

pub(crate) async fn ask(shop: &Router, request: request::Builder) -> Reply {
    let request = request.body(Body::empty()).unwrap();
    let response = shop.clone().oneshot(request).await.unwrap();
    let (head, body) = response.into_parts();
    let body = to_bytes(body, usize::MAX).await.unwrap();
    Reply {
        status: head.status.as_u16(),
        headers: head.headers,
        body: String::from_utf8(body.to_vec()).unwrap(),
    }
}
