//! Who may operate the rooms.

use std::net::IpAddr;

use axum::extract::FromRequestParts;
use http::{HeaderMap, Method, header::AUTHORIZATION, request::Parts};
use ropeline_web::{Client, RequestId};

use crate::{
    app::App,
    audit::{Api, Proof, WrongKey},
    error::ApiError,
    moment::Moment,
    queue::bearer,
};

/// The page says with this header that a request comes from it and not from another site.
const CSRF_HEADER: &str = "x-csrf-token";

/// Proof that the caller is an operator, and what the audit log says of them.
#[derive(Debug)]
pub(crate) struct Operator {
    pub(super) proof: Proof,
    /// The id of the session, where that is the proof.
    pub(super) session: Option<String>,
    pub(super) address: IpAddr,
    pub(super) request_id: Option<RequestId>,
}

impl FromRequestParts<App> for Operator {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let client = Client::of(parts, &app.trusted_proxies);
        let request_id: Option<RequestId> = parts.extensions.get().cloned();
        let (proof, session) = if parts.headers.contains_key(AUTHORIZATION) {
            let key = bearer(&parts.headers).ok_or(ApiError::Unauthorized)?;
            if let Err(refused) = app.check_admin_key(client, &key).map_err(ApiError::from) {
                note_wrong_key(app, client, request_id.as_ref(), Api::Admin, &refused).await;
                return Err(refused);
            }
            (Proof::Key, None)
        } else {
            let session = session(app, &parts.method, &parts.headers).await?;
            (Proof::Session, Some(session))
        };
        app.count_operator(client, proof)?;
        Ok(Self {
            proof,
            session,
            address: client.address,
            request_id,
        })
    }
}

/// The id of the session that a request comes from.
async fn session(app: &App, method: &Method, headers: &HeaderMap) -> Result<String, ApiError> {
    let session = app.sessions.find(headers, app.now()).await;
    let session = session.ok_or(ApiError::Unauthorized)?;
    // A cookie travels with every request, also with those that another site's page makes.
    let csrf = headers
        .get(CSRF_HEADER)
        .and_then(|value| value.to_str().ok());
    let from_our_page = csrf.is_some_and(|token| session.csrf_matches(token));
    if method.is_safe() || from_our_page {
        Ok(session.id().to_owned())
    } else {
        Err(ApiError::Unauthorized)
    }
}

/// Notes a key that was wrong.
pub(crate) async fn note_wrong_key(
    app: &App,
    client: Client,
    request_id: Option<&RequestId>,
    api: Api,
    refused: &ApiError,
) {
    let wrong = WrongKey {
        at: Moment(app.now()),
        api,
        outcome: refused.kind().code,
        address: client.address,
        request_id: request_id.map(ToString::to_string),
    };
    app.audit.write_wrong_key(wrong).await;
}
