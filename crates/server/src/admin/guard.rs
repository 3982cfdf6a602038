//! Routes of others that are for operators.

use axum::{
    extract::{FromRequestParts, Request, State},
    middleware::Next,
    response::{IntoResponse, Response},
};

use super::{audit::entry, operator::Operator};
use crate::{
    app::App,
    audit::{Entry, is_change, is_for_operators, watched},
};

/// Lets only operators through to what a service beside the rooms has for them, by the same key, sessions and limits: a
/// route that compared the key without counting would be where to guess it. What they change there is noted.
pub(crate) async fn guard(State(app): State<App>, request: Request, next: Next) -> Response {
    if !is_for_operators(&request) {
        return next.run(request).await;
    }
    let is_change = is_change(&request);
    let (mut parts, body) = request.into_parts();
    let operator = match Operator::from_request_parts(&mut parts, &app).await {
        Ok(operator) => operator,
        Err(error) => return error.into_response(),
    };
    let request = Request::from_parts(parts, body);
    if !is_change {
        return next.run(request).await;
    }
    let (answer, change) = watched(request, next).await;
    if let Some(change) = change {
        let entry = entry(&app, &operator, change.action.into(), change.outcome.into());
        let details = change.details;
        app.audit.write(Entry { details, ..entry }).await;
    }
    answer
}
