//! For operators.

use axum::{
    extract::{FromRequestParts, State},
    response::{IntoResponse, Response},
};
use http::request::Parts;
use ropeline_core::{Identity, Policy, RoomId, View};
use ropeline_web::{Json, Path};
use serde::Serialize;

use crate::{app::App, config::span_text, error::ApiError, queue::bearer};

/// Proof that the caller has the admin key.
pub(crate) struct Operator;

impl FromRequestParts<App> for Operator {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        match bearer(&parts.headers) {
            Some(key) if app.admin_key.matches(&key) => Ok(Self),
            _ => Err(ApiError::Unauthorized),
        }
    }
}

/// A room in figures.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct RoomView {
    room: RoomId,
    state: &'static str,
    waiting: u64,
    active: u64,
    aside: u64,
    door: u64,
    issued: u64,
    head: u64,
    version: u64,
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
            policy: PolicyView::of(&view.header.policy),
        }
    }
}

/// A policy with its spans written as in `ropeline.toml`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct PolicyView {
    every: String,
    batch: Option<u64>,
    active_max: Option<u64>,
    pass_ttl: String,
    pass_max: String,
    presence_ttl: String,
    missed_turn_ttl: String,
    waiting_max: u64,
    identity: Identity,
}

impl PolicyView {
    fn of(policy: &Policy) -> Self {
        Self {
            every: span_text(policy.every),
            batch: policy.batch,
            active_max: policy.active_max,
            pass_ttl: span_text(policy.pass_ttl),
            pass_max: span_text(policy.pass_max),
            presence_ttl: span_text(policy.presence_ttl),
            missed_turn_ttl: span_text(policy.missed_turn_ttl),
            waiting_max: policy.waiting_max,
            identity: policy.identity,
        }
    }
}

#[derive(Debug, Serialize)]
struct RoomList {
    rooms: Vec<RoomView>,
}

pub(crate) async fn rooms(_: Operator, State(app): State<App>) -> Response {
    let rooms = app.store.rooms().into_iter().filter_map(|room| {
        let seen = app.store.view(&room)?;
        Some(RoomView::of(&room, &seen.view))
    });
    Json(RoomList {
        rooms: rooms.collect(),
    })
    .into_response()
}

pub(crate) async fn room(
    _: Operator,
    State(app): State<App>,
    Path(room): Path<RoomId>,
) -> Result<Response, ApiError> {
    let seen = app.seen(&room)?;
    Ok(Json(RoomView::of(&room, &seen.view)).into_response())
}
