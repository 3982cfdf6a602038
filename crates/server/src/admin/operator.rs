//! Who may operate the rooms.

use std::net::IpAddr;

use axum::extract::FromRequestParts;
use http::{HeaderMap, Method, header::AUTHORIZATION, request::Parts};
use ropeline_web::{Client, RequestId};
use serde::Serialize;

use crate::{app::App, error::ApiError, queue::bearer};

/// The page says with this header that a request comes from it and not from another site.
const CSRF_HEADER: &str = "x-csrf-token";

/// Proof that the caller is an operator, and what the audit log says of them.
#[derive(Debug)]
pub(crate) struct Operator {
    pub(super) proof: Proof,
    pub(super) address: IpAddr,
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
        let client = Client::of(parts, &app.trusted_proxies);
        let proof = proof(app, client, &parts.method, &parts.headers)?;
        app.count_operator(client)?;
        Ok(Self {
            proof,
            address: client.address,
            request_id: parts.extensions.get().cloned(),
        })
    }
}

fn proof(
    app: &App,
    client: Client,
    method: &Method,
    headers: &HeaderMap,
) -> Result<Proof, ApiError> {
    if headers.contains_key(AUTHORIZATION) {
        let key = bearer(headers).ok_or(ApiError::Unauthorized)?;
        app.check_admin_key(client, &key)?;
        return Ok(Proof::Key);
    }
    let session = app.sessions.find(headers, app.now());
    let session = session.ok_or(ApiError::Unauthorized)?;
    // A cookie travels with every request, also with those that another site's page makes.
    let csrf = headers
        .get(CSRF_HEADER)
        .and_then(|value| value.to_str().ok());
    let from_our_page = csrf.is_some_and(|token| session.csrf_matches(token));
    if method.is_safe() || from_our_page {
        Ok(Proof::Session)
    } else {
        Err(ApiError::Unauthorized)
    }
}
