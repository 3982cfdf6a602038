//! Which services are believed.

use axum::extract::FromRequestParts;
use http::request::Parts;
use ropeline_web::Client;

use crate::{app::App, error::ApiError, queue::bearer};

/// Proof that the caller has the service key.
#[derive(Debug)]
pub(crate) struct Service;

impl FromRequestParts<App> for Service {
    type Rejection = ApiError;

    /// A service speaks for all of its visitors, so with the right key it may ask as often as it likes.
    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let (client, now) = (Client::of(parts, &app.trusted_proxies), app.now());
        let key = bearer(&parts.headers).ok_or(ApiError::Unauthorized)?;
        let right = app.service_key.load();
        if right.as_ref().is_some_and(|right| right.matches(&key)) {
            Ok(Self)
        } else {
            Err(app.rates.service_failed(client, now).into())
        }
    }
}
