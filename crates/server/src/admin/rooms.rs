//! Rooms: which there are, and how they let people in.

use std::sync::Arc;

use axum::{
    extract::State,
    response::{IntoResponse, Response},
};
use http::{StatusCode, header::LOCATION};
use ropeline_core::{Policy, RoomId, View};
use ropeline_store::{Health, Operation, Store};
use ropeline_web::{Json, Path, object};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use super::{
    audit::{Action, audited},
    operator::Operator,
    policy::{PolicyChange, PolicyView, new_policy},
};
use crate::{app::App, error::ApiError, moment::Moment};

/// A room in figures.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RoomView {
    #[schema(value_type = String, example = "main")]
    room: RoomId,
    /// `OPEN`, `PAUSED`, `CLOSED` or `DRAINING`.
    #[schema(example = "OPEN")]
    state: &'static str,
    /// How many are in line.
    waiting: u64,
    /// How many are inside.
    active: u64,
    /// How many missed their turn and may come back.
    aside: u64,
    /// How many came back and are served before the line.
    door: u64,
    /// The highest ordinal given.
    issued: u64,
    /// The highest ordinal admitted or stepped over.
    head: u64,
    /// Grows with every change.
    version: u64,
    /// How many seats the service behind the room has left; `null` if it does not tell.
    seats_left: Option<u64>,
    created_at: Moment,
    policy: PolicyView,
}

impl RoomView {
    fn of(room: &RoomId, view: &View) -> Self {
        Self {
            room: room.clone(),
            state: view.state_word(),
            waiting: view.waiting(),
            active: view.inside,
            aside: view.aside,
            door: view.door,
            issued: view.header.issued.0,
            head: view.header.head.0,
            version: view.header.version,
            seats_left: view.header.stock,
            created_at: Moment(view.header.epoch),
            policy: PolicyView::from(&*view.header.policy),
        }
    }
}

/// A room as it is now.
pub(super) fn now(app: &App, room: &RoomId) -> Result<Json<RoomView>, ApiError> {
    Ok(Json(RoomView::of(room, &app.seen(room)?.view)))
}

/// All rooms, and where they are kept.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RoomList {
    rooms: Vec<RoomView>,
    store: StoreView,
}

/// How the store is, as this node sees it.
#[derive(Debug, Serialize, ToSchema)]
struct StoreView {
    /// Whether joins are taken in every room.
    up: bool,
    /// Why they are not.
    reason: Option<String>,
    /// Requests answered since this node's start although no replica of Redis has what they wrote.
    unreplicated: u64,
}

impl StoreView {
    fn of(store: &dyn Store) -> Self {
        let reason = match store.health() {
            Health::Up => None,
            Health::Down(reason) => Some(reason.to_string()),
        };
        Self {
            up: reason.is_none(),
            reason,
            unreplicated: store.unreplicated(),
        }
    }
}

pub(crate) async fn rooms(_: Operator, State(app): State<App>) -> Response {
    let rooms = app.store.rooms().into_iter().filter_map(|room| {
        let seen = app.store.view(&room)?;
        Some(RoomView::of(&room, &seen.view))
    });
    let list = RoomList {
        rooms: rooms.collect(),
        store: StoreView::of(&*app.store),
    };
    Json(list).into_response()
}

pub(crate) async fn room(
    _: Operator,
    State(app): State<App>,
    Path(room): Path<RoomId>,
) -> Result<Response, ApiError> {
    Ok(now(&app, &room)?.into_response())
}

/// A room to be made.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewRoom {
    #[schema(value_type = String, pattern = "^[a-z0-9-]{1,64}$", example = "album-sale")]
    room: RoomId,
    /// Proven figures to begin with: `seed-000`, `seed-001`, `seed-002` or `seed-004`.
    preset: Option<String>,
    /// As a section of `ropeline.toml`: a limit left out is none, the rest is as shipped. Without policy and
    /// preset, everything is as shipped.
    #[serde(default, deserialize_with = "optional_object")]
    policy: Option<PolicyChange>,
}

/// A policy that is given, if any.
fn optional_object<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<PolicyChange>, D::Error> {
    object(deserializer).map(Some)
}

impl NewRoom {
    fn policy(&self, shipped: &Policy) -> Result<Policy, ApiError> {
        match (&self.preset, &self.policy) {
            (None, None) => Ok(shipped.clone()),
            (preset, change) => {
                let change = change.clone().unwrap_or_default();
                new_policy(preset.as_deref(), &change, shipped)
            }
        }
    }
}

pub(crate) async fn create(
    operator: Operator,
    State(app): State<App>,
    Json(new): Json<NewRoom>,
) -> Result<Response, ApiError> {
    let policy = new.policy(&app.shipped_policy)?;
    app.check_identity(&policy)?;
    let room = &new.room;
    let action = Action {
        name: "create",
        room,
        details: json!({"policy": PolicyView::from(&policy)}),
    };
    audited(&app, &operator, action, async {
        let made = app.store.create(room, Arc::new(policy), None).await?;
        made.then_some(()).ok_or(ApiError::RoomExists)
    })
    .await?;
    let location = format!("/api/v1/admin/rooms/{room}");
    Ok((
        StatusCode::CREATED,
        [(LOCATION, location)],
        now(&app, room)?,
    )
        .into_response())
}

/// What is to be different about a room.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RoomChange {
    #[serde(deserialize_with = "object")]
    policy: PolicyChange,
}

pub(crate) async fn change(
    operator: Operator,
    State(app): State<App>,
    Path(room): Path<RoomId>,
    Json(RoomChange { policy: change }): Json<RoomChange>,
) -> Result<Response, ApiError> {
    let action = Action {
        name: "change",
        room: &room,
        details: json!({"policy": change}),
    };
    audited(&app, &operator, action, async {
        // Whoever changes another setting at the same moment loses nothing: the later one looks again.
        loop {
            let from = Arc::clone(&app.seen(&room)?.view.header.policy);
            let to = Arc::new(change.over(&from)?);
            app.check_identity(&to)?;
            if app.store.change_policy(&room, from, to).await? {
                return Ok(());
            }
            app.store.refresh(&room).await;
        }
    })
    .await?;
    Ok(now(&app, &room)?.into_response())
}

pub(crate) async fn delete(
    operator: Operator,
    State(app): State<App>,
    Path(room): Path<RoomId>,
) -> Result<Response, ApiError> {
    if room == RoomId::main() {
        return Err(ApiError::RoomRequired);
    }
    let action = Action {
        name: "delete",
        room: &room,
        details: json!({}),
    };
    audited(&app, &operator, action, async {
        Ok(app.store.operate(&room, Operation::Delete).await?)
    })
    .await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}
