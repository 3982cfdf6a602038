//! Who may operate the rooms.

use std::net::SocketAddr;

use axum::extract::{ConnectInfo, FromRequestParts};
use http::{HeaderMap, Method, header::AUTHORIZATION, request::Parts};
use ropeline_web::RequestId;
use serde::Serialize;

use crate::{app::App, error::ApiError};

/// The page says with this header that a request comes from it and not from another site.
const CSRF_HEADER: &str = "x-csrf-token";

/// Proof that the caller is an operator, and what the audit log says of them.
#[derive(Debug)]
pub(crate) struct Operator {
    pub(super) proof: Proof,
    pub(super) address: Option<SocketAddr>,
    pub(super) request_id: Option<RequestId>,
}

/// What showed it.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Proof {
    /// The admin key as bearer.
    Key,
    /// The cookie of somebody who has logged in with the key.
    Session,
}

impl FromRequestParts<App> for Operator {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let proof = proof(app, &parts.method, &parts.headers).ok_or(ApiError::Unauthorized)?;
        let peer = parts.extensions.get::<ConnectInfo<SocketAddr>>();
        Ok(Self {
            proof,
            address: peer.map(|ConnectInfo(address)| *address),
            request_id: parts.extensions.get().cloned(),
        })
    }
}

fn proof(app: &App, method: &Method, headers: &HeaderMap) -> Option<Proof> {
    if headers.contains_key(AUTHORIZATION) {
        let key = bearer(headers)?;
        return app.admin_key.matches(key).then_some(Proof::Key);
    }
    let session = app.sessions.find(headers, app.now())?;
    // A cookie travels with every request, also with those that another site's page makes.
    let csrf = headers
        .get(CSRF_HEADER)
        .and_then(|value| value.to_str().ok());
    let from_our_page = csrf.is_some_and(|token| session.csrf_matches(token));
    (method.is_safe() || from_our_page).then_some(Proof::Session)
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let header = headers.get(AUTHORIZATION)?.to_str().ok()?;
    let (scheme, key) = header.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| key.trim())
}
