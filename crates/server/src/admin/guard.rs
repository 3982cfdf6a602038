//! Routes of others that are for operators.

use axum::{
    extract::{FromRequestParts, Request, State},
    middleware::Next,
    response::{IntoResponse, Response},
};

use super::operator::Operator;
use crate::app::App;

/// Lets only operators through to what a service beside the rooms has for them, by the same key, sessions and limits: a
/// route that compared the key without counting would be where to guess it.
pub(crate) async fn guard(State(app): State<App>, request: Request, next: Next) -> Response {
    if !request.uri().path().starts_with("/api/v1/admin/") {
        return next.run(request).await;
    }
    let (mut parts, body) = request.into_parts();
    match Operator::from_request_parts(&mut parts, &app).await {
        Ok(_) => next.run(Request::from_parts(parts, body)).await,
        Err(error) => error.into_response(),
    }
}
