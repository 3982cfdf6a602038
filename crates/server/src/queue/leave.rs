//! Giving up a place, or being done with a pass.

use axum::{
    extract::State,
    response::{IntoResponse, Response},
};
use http::{StatusCode, header::SET_COOKIE};

use super::credentials::Asking;
use crate::{app::App, error::ApiError};

pub(crate) async fn leave(State(app): State<App>, asking: Asking) -> Result<Response, ApiError> {
    match asking.claims(&app).await {
        Ok((claims, _)) => {
            app.store.leave(&claims.aud, claims.holder()).await?;
            let forget = app.cookies.set(&claims.aud, "", 0);
            Ok((StatusCode::NO_CONTENT, [(SET_COOKIE, forget)]).into_response())
        }
        // What is gone already need not be left.
        Err(ApiError::TokenEnded(_) | ApiError::NoSuchRoom(_)) => {
            Ok(StatusCode::NO_CONTENT.into_response())
        }
        Err(error) => Err(error),
    }
}
