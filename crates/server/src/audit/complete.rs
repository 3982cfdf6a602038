//! Requests that go on after their client has gone.

use std::panic::resume_unwind;

use axum::{
    extract::{Request, State},
    middleware::Next,
    response::{IntoResponse, Response},
};
use ropeline_web::{Problem, Tasks};

/// Below these are the routes whose changes have a line.
const AUDITED: [&str; 3] = ["/api/v1/admin/", "/api/v1/service/", "/admin/"];

/// Answers a request whose effect has to be in the audit log in a task of its own.
///
/// A handler is dropped when its client resets the connection. The change may be made by then, and the line about it
/// would be missing.
pub(crate) async fn complete(State(tasks): State<Tasks>, request: Request, next: Next) -> Response {
    if !is_audited(&request) {
        return next.run(request).await;
    }
    match tasks.spawn(next.run(request)).await {
        Ok(answer) => answer,
        Err(ended) => match ended.try_into_panic() {
            // The connection answers and logs it as any other.
            Ok(panic) => resume_unwind(panic),
            Err(_) => Problem::internal().into_response(),
        },
    }
}

fn is_audited(request: &Request) -> bool {
    let path = request.uri().path();
    !request.method().is_safe() && AUDITED.iter().any(|below| path.starts_with(below))
}
