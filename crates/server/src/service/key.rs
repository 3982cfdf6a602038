//! Which services are believed.

use std::net::IpAddr;

use axum::extract::FromRequestParts;
use http::request::Parts;
use ropeline_core::RoomId;
use ropeline_web::{Client, RequestId};

use crate::{
    admin::note_wrong_key,
    app::App,
    audit::{Api, ServiceCall},
    error::ApiError,
    queue::bearer,
};

/// Proof that the caller has the service key.
#[derive(Debug)]
pub(crate) struct Service {
    address: IpAddr,
}

impl Service {
    /// Counts what was done with the key, and gives the result.
    pub(super) fn counted<T, E>(
        &self,
        app: &App,
        room: &RoomId,
        name: &'static str,
        result: Result<T, E>,
    ) -> Result<T, E> {
        let call = ServiceCall {
            name,
            is_done: result.is_ok(),
        };
        app.audit.count(app.now(), room, self.address, call);
        result
    }
}

impl FromRequestParts<App> for Service {
    type Rejection = ApiError;

    /// A service speaks for all of its visitors, so with the right key it may ask as often as it likes.
    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let (client, now) = (Client::of(parts, &app.trusted_proxies), app.now());
        let key = bearer(&parts.headers).ok_or(ApiError::Unauthorized)?;
        let right = app.service_key.load_full();
        if right.is_some_and(|right| right.matches(&key)) {
            return Ok(Self {
                address: client.address,
            });
        }
        let refused = app.rates.service_failed(client, now).into();
        let id: Option<&RequestId> = parts.extensions.get();
        note_wrong_key(app, client, id, Api::Service, &refused).await;
        Err(refused)
    }
}
