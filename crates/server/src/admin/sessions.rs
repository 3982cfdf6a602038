//! The sessions of the operators' page, for operators: which are open, and ending them.

use axum::{
    extract::State,
    response::{IntoResponse, Response},
};
use http::StatusCode;
use ropeline_web::{Json, Path};
use serde::Serialize;
use serde_json::json;
use utoipa::ToSchema;

use super::{
    audit::{entry, outcome},
    operator::Operator,
};
use crate::{app::App, audit::Entry, error::ApiError, moment::Moment};

/// Every open session.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SessionList {
    sessions: Vec<SessionView>,
}

/// An open session of the operators' page.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SessionView {
    #[schema(example = "66793724d1c5f359b2698af2fb0fbd41")]
    id: String,
    #[schema(inline)]
    opened_at: Moment,
    /// To about a minute.
    #[schema(inline)]
    last_used_at: Moment,
    #[schema(inline)]
    expires_at: Moment,
    /// From where it was opened.
    #[schema(example = "198.51.100.7")]
    address: String,
    /// Whether this request was made with it.
    current: bool,
}

/// How many sessions were ended.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SessionsEnded {
    #[schema(example = 2)]
    ended: usize,
}

pub(crate) async fn sessions(
    operator: Operator,
    State(app): State<App>,
) -> Result<Response, ApiError> {
    let open = app.sessions.list(app.now()).await?;
    let sessions = open.into_iter().map(|session| SessionView {
        current: operator.session.as_deref() == Some(&*session.id),
        id: session.id,
        opened_at: Moment(session.opened_at),
        last_used_at: Moment(session.used_at),
        expires_at: Moment(session.expires_at),
        address: session.address.to_string(),
    });
    Ok(Json(SessionList {
        sessions: sessions.collect(),
    })
    .into_response())
}

pub(crate) async fn end_session(
    operator: Operator,
    State(app): State<App>,
    Path(id): Path<String>,
) -> Result<StatusCode, ApiError> {
    let ended = app.sessions.end(&id, app.now()).await;
    let ended = ended
        .map_err(ApiError::from)
        .and_then(|was_open| was_open.then_some(()).ok_or(ApiError::NoSuchSession));
    note(
        &app,
        &operator,
        "end_session",
        &ended,
        json!({"session": id}),
    )
    .await;
    ended.map(|()| StatusCode::NO_CONTENT)
}

pub(crate) async fn end_sessions(
    operator: Operator,
    State(app): State<App>,
) -> Result<Response, ApiError> {
    let ended = app
        .sessions
        .end_all(app.now())
        .await
        .map_err(ApiError::from);
    note(&app, &operator, "end_all_sessions", &ended, json!({})).await;
    Ok(Json(SessionsEnded { ended: ended? }).into_response())
}

async fn note<T>(
    app: &App,
    operator: &Operator,
    action: &'static str,
    result: &Result<T, ApiError>,
    details: serde_json::Value,
) {
    let entry = Entry {
        details,
        ..entry(app, operator, action.into(), outcome(result).into())
    };
    app.audit.write(entry).await;
}
