//! Giving up a place, or being done with a pass.

use axum::{
    extract::State,
    response::{AppendHeaders, IntoResponse, Response},
};
use http::{HeaderValue, StatusCode, header::SET_COOKIE};

use super::credentials::Asking;
use crate::{app::App, error::ApiError};

pub(crate) async fn leave(State(app): State<App>, asking: Asking) -> Result<Response, ApiError> {
    let forget = depart(&app, &asking).await?;
    let forget = forget.map(|cookie| (SET_COOKIE, cookie));
    Ok((StatusCode::NO_CONTENT, AppendHeaders(forget)).into_response())
}

/// Gives up a place or a pass, and says which cookie is to be taken away for it.
pub(crate) async fn depart(app: &App, asking: &Asking) -> Result<Option<HeaderValue>, ApiError> {
    match asking.claims(app).await {
        Ok((claims, _)) => {
            app.store.leave(&claims.aud, claims.holder()).await?;
            Ok(Some(app.cookies.set(&claims.aud, "", 0)))
        }
        // What is gone already need not be left.
        Err(ApiError::TokenEnded(_) | ApiError::NoSuchRoom(_)) => Ok(None),
        Err(error) => Err(error),
    }
}
