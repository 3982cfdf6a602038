//! The caller's own name for a request that may be sent again.

use axum::extract::FromRequestParts;
use http::request::Parts;

use super::error::ApiError;
use crate::{IdempotencyKey, Refusal};

/// The `Idempotency-Key`, if there is one.
#[derive(Debug)]
pub(crate) struct Key(pub(crate) Option<IdempotencyKey>);

impl<S: Sync> FromRequestParts<S> for Key {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let key = parts.headers.get("idempotency-key").map(|value| {
            let text = value.to_str().map_err(|_| Refusal::InvalidKey)?;
            IdempotencyKey::parse(text)
        });
        Ok(Self(key.transpose()?))
    }
}
