//! One visitor: where are they, and out with them.

use axum::{
    extract::State,
    response::{IntoResponse, Response},
};
use http::StatusCode;
use ropeline_core::{RoomId, UserId, Visitor};
use ropeline_store::Found;
use ropeline_web::{Json, Path};
use serde::Serialize;
use serde_json::json;
use utoipa::ToSchema;

use super::{
    audit::{Action, audited},
    operator::Operator,
};
use crate::{app::App, error::ApiError, moment::Moment, queue::Place};

/// What an operator is told of a visitor.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct VisitorView {
    #[schema(value_type = String, example = "main")]
    room: RoomId,
    #[schema(value_type = String, example = "42")]
    user_id: UserId,
    ordinal: u64,
    /// `WAITING` or `ACTIVE`.
    #[schema(example = "WAITING")]
    status: &'static str,
    position: u64,
    eta_seconds: Option<u64>,
    expires_at: Option<Moment>,
}

pub(crate) async fn find(
    _: Operator,
    State(app): State<App>,
    Path((room, user_id)): Path<(RoomId, UserId)>,
) -> Result<Response, ApiError> {
    let found = app.store.find(&room, &Visitor::at_gate(&user_id)).await?;
    let Found { ordinal, standing } = found.ok_or(ApiError::NoSuchVisitor)?;
    let seen = app.seen(&room)?;
    let now = app.now();
    let room_now = seen.view.now(now);
    let place =
        Place::standing(standing, &seen.view, ordinal).map_err(|_| ApiError::NoSuchVisitor)?;
    let (status, expires_at) = match place {
        Place::Inside(pass) => (
            "ACTIVE",
            Some(Moment(now + room_now.until(pass.expires_at))),
        ),
        _ => ("WAITING", None),
    };
    let wait = place.wait(&seen.view, room_now);
    Ok(Json(VisitorView {
        room,
        user_id,
        ordinal: ordinal.0,
        status,
        position: place.position(),
        eta_seconds: wait.map(|estimate| estimate.wait.as_secs()),
        expires_at,
    })
    .into_response())
}

pub(crate) async fn revoke(
    operator: Operator,
    State(app): State<App>,
    Path((room, user_id)): Path<(RoomId, UserId)>,
) -> Result<Response, ApiError> {
    let action = Action {
        name: "revoke",
        room: &room,
        details: json!({"userId": user_id.as_str()}),
    };
    audited(&app, &operator, action, async {
        let place = app.store.revoke(&room, Visitor::at_gate(&user_id)).await?;
        place.map(drop).ok_or(ApiError::NoSuchVisitor)
    })
    .await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}
