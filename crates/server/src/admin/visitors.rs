//! One visitor: where they are, and putting them out.

use axum::{
    extract::State,
    response::{IntoResponse, Response},
};
use http::StatusCode;
use ropeline_core::{Ordinal, RoomId, UserId, Visitor};
use ropeline_store::Found;
use ropeline_web::{Json, Path, Query};
use serde::{Deserialize, Serialize};
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
    /// Whether a login or a service vouches for the user id.
    verified: bool,
    ordinal: u64,
    /// `WAITING` or `ACTIVE`.
    #[schema(example = "WAITING")]
    status: &'static str,
    position: u64,
    eta_seconds: Option<u64>,
    expires_at: Option<Moment>,
}

/// Which visitor with this user id is meant.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Which {
    verified: Option<bool>,
}

/// A visitor as a query names them: a user id may be no part of a path, as `a/../b`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Named {
    user_id: UserId,
    verified: Option<bool>,
}

impl Which {
    /// The visitors of this name, the verified one first.
    fn visitors(self, name: &UserId) -> Vec<Visitor> {
        let mut visitors = match Visitor::anonymous_named(name) {
            Some(nameless) => vec![nameless],
            None => vec![Visitor::verified(name), Visitor::stated(name)],
        };
        visitors.retain(|visitor| {
            self.verified
                .is_none_or(|verified| verified == visitor.is_verified())
        });
        visitors
    }
}

pub(crate) async fn find(
    _: Operator,
    State(app): State<App>,
    Path((room, user_id)): Path<(RoomId, UserId)>,
    Query(which): Query<Which>,
) -> Result<Response, ApiError> {
    view_of(&app, room, user_id, which).await
}

pub(crate) async fn find_named(
    _: Operator,
    State(app): State<App>,
    Path(room): Path<RoomId>,
    Query(Named { user_id, verified }): Query<Named>,
) -> Result<Response, ApiError> {
    view_of(&app, room, user_id, Which { verified }).await
}

async fn view_of(
    app: &App,
    room: RoomId,
    user_id: UserId,
    which: Which,
) -> Result<Response, ApiError> {
    let (verified, place, ordinal) = place_of(app, &room, which.visitors(&user_id)).await?;
    let seen = app.seen(&room)?;
    let now = app.now();
    let room_now = seen.view.now(now);
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
        verified,
        ordinal: ordinal.0,
        status,
        position: place.position(None),
        eta_seconds: wait.map(|estimate| estimate.wait.as_secs()),
        expires_at,
    })
    .into_response())
}

/// The first of these visitors who has a live place: whether it is verified, where it is, and its number.
async fn place_of(
    app: &App,
    room: &RoomId,
    visitors: Vec<Visitor>,
) -> Result<(bool, Place, Ordinal), ApiError> {
    for visitor in visitors {
        let Some(Found { ordinal, standing }) = app.store.find(room, &visitor).await? else {
            continue;
        };
        if let Ok(place) = Place::standing(standing, &app.seen(room)?.view, ordinal) {
            return Ok((visitor.is_verified(), place, ordinal));
        }
    }
    Err(ApiError::NoSuchVisitor)
}

pub(crate) async fn revoke(
    operator: Operator,
    State(app): State<App>,
    Path((room, user_id)): Path<(RoomId, UserId)>,
    Query(which): Query<Which>,
) -> Result<Response, ApiError> {
    end_places(&app, &operator, &room, &user_id, which).await
}

pub(crate) async fn revoke_named(
    operator: Operator,
    State(app): State<App>,
    Path(room): Path<RoomId>,
    Query(Named { user_id, verified }): Query<Named>,
) -> Result<Response, ApiError> {
    end_places(&app, &operator, &room, &user_id, Which { verified }).await
}

/// Ends the places of all visitors who are meant: without more said, the verified and the stated one.
async fn end_places(
    app: &App,
    operator: &Operator,
    room: &RoomId,
    user_id: &UserId,
    which: Which,
) -> Result<Response, ApiError> {
    let mut details = json!({"userId": user_id.as_str()});
    if let Some(verified) = which.verified {
        details["verified"] = verified.into();
    }
    let action = Action {
        name: "revoke",
        room,
        details,
    };
    audited(app, operator, action, async {
        let mut revoked = false;
        for visitor in which.visitors(user_id) {
            revoked |= app.store.revoke(room, visitor).await?.is_some();
        }
        revoked.then_some(()).ok_or(ApiError::NoSuchVisitor)
    })
    .await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}
