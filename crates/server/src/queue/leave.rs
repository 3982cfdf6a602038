//! Giving up a place, or being done with a pass.

use axum::{
    extract::State,
    response::{IntoResponse, Response},
};
use http::{HeaderValue, StatusCode, header::SET_COOKIE};

use super::{
    credentials::{Asking, X_QUEUE_VERSION},
    place::remember_issued,
};
use crate::{app::App, error::ApiError};

/// What there is to say after a departure.
#[derive(Debug)]
pub(crate) struct Departed {
    /// The header that takes the token away from the browser.
    pub(crate) forget: HeaderValue,
    /// The room was so when it was done: whoever returns this is told nothing older by another node.
    version: u64,
}

pub(crate) async fn leave(State(app): State<App>, asking: Asking) -> Result<Response, ApiError> {
    let mut answer = StatusCode::NO_CONTENT.into_response();
    if let Some(departed) = depart(&app, &asking).await? {
        let headers = answer.headers_mut();
        headers.insert(SET_COOKIE, departed.forget);
        headers.insert(X_QUEUE_VERSION, departed.version.into());
    }
    Ok(answer)
}

/// Gives up a place or a pass.
pub(crate) async fn depart(app: &App, asking: &Asking) -> Result<Option<Departed>, ApiError> {
    match asking.claims(app).await {
        Ok((claims, before)) => {
            remember_issued(app, &claims, &before.view).await?;
            app.store.leave(&claims.aud, claims.holder()).await?;
            // A room that was deleted meanwhile has no newer picture.
            let seen = app.seen(&claims.aud).unwrap_or(before);
            Ok(Some(Departed {
                forget: app.cookies.set(&claims.aud, "", 0),
                version: seen.view.header.version,
            }))
        }
        // What is gone already need not be left.
        Err(ApiError::TokenEnded(..) | ApiError::NoSuchRoom(_)) => Ok(None),
        Err(error) => Err(error),
    }
}
