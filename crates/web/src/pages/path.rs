//! What the path of a page says.

use axum::{
    extract::{FromRef, FromRequestParts},
    response::Response,
};
use http::request::Parts;
use serde::de::DeserializeOwned;

use super::{Book, Page, not_found};
use crate::Path;

/// As [`Path`], for the address of a page: one that does not fit names no page, which is what people are told.
#[derive(Debug, Clone, Copy)]
pub struct PagePath<T>(pub T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for PagePath<T>
where
    &'static Book: FromRef<S>,
{
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Response> {
        if let Ok(Path(value)) = Path::from_request_parts(parts, state).await {
            return Ok(Self(value));
        }
        let Ok(page) = Page::from_request_parts(parts, state).await;
        Err(not_found(page, parts.uri.clone(), parts.headers.clone()).await)
    }
}
