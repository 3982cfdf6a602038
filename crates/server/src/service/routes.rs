//! The service API: the same over HTTP, with the service key.

use std::time::Duration;

use axum::{
    extract::State,
    response::{IntoResponse, Response},
};
use http::{HeaderMap, StatusCode};
use ropeline_core::{Holder, RoomId};
use ropeline_gate::header_token;
use ropeline_web::{Json, Path, Problem};

use super::{
    key::Service,
    rules,
    shapes::{Entering, Finish, Keep, ServiceJoin, Stock},
};
use crate::{app::App, error::ApiError, queue::Entry};

pub(crate) async fn verify(
    service: Service,
    State(app): State<App>,
    Path(room): Path<RoomId>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let verified = rules::verify(&app, &room, header_token(&headers)).await;
    match service.counted(&app, &room, "verify", verified) {
        Ok(Entry::Inside(claims, until)) => {
            let left = app.now().until(until);
            Ok(Json(Entering::inside(&claims, left)).into_response())
        }
        Ok(Entry::Unchecked(claims)) => {
            Ok(Json(Entering::unchecked(claims.as_ref())).into_response())
        }
        // Who asks with the key of a service is told that a setting names no room.
        Err(error @ ApiError::NoSuchRoom(_)) => Err(error.into()),
        Err(error) => Err(error.at_gate()),
    }
}

pub(crate) async fn join(
    service: Service,
    State(app): State<App>,
    Path(room): Path<RoomId>,
    Json(ServiceJoin { user_id }): Json<ServiceJoin>,
) -> Result<Response, ApiError> {
    let joined = rules::join(&app, &room, user_id).await;
    let holding = service.counted(&app, &room, "join", joined)?;
    Ok(holding.answer(&app))
}

pub(crate) async fn keep(
    service: Service,
    State(app): State<App>,
    Path(room): Path<RoomId>,
    Json(keep): Json<Keep>,
) -> Result<StatusCode, ApiError> {
    let Keep {
        visitor,
        ordinal,
        milliseconds,
    } = keep;
    let holder = Holder { visitor, ordinal };
    let done = rules::keep(&app, &room, holder, Duration::from_millis(milliseconds)).await;
    service.counted(&app, &room, "keep", done)?;
    Ok(StatusCode::NO_CONTENT)
}

pub(crate) async fn finish(
    service: Service,
    State(app): State<App>,
    Path(room): Path<RoomId>,
    Json(Finish { visitor, ordinal }): Json<Finish>,
) -> Result<StatusCode, ApiError> {
    let done = rules::finish(&app, &room, Holder { visitor, ordinal }).await;
    service.counted(&app, &room, "finish", done)?;
    Ok(StatusCode::NO_CONTENT)
}

/// Not among the counted calls: a health check asks every second and says nothing of visitors.
pub(crate) async fn ready(
    _: Service,
    State(app): State<App>,
    Path(room): Path<RoomId>,
) -> Result<StatusCode, ApiError> {
    rules::ready(&app, &room)?;
    Ok(StatusCode::NO_CONTENT)
}

pub(crate) async fn stock(
    service: Service,
    State(app): State<App>,
    Path(room): Path<RoomId>,
    Json(Stock { left }): Json<Stock>,
) -> Result<StatusCode, ApiError> {
    let done = rules::stock(&app, &room, left).await;
    service.counted(&app, &room, "stock", done)?;
    Ok(StatusCode::NO_CONTENT)
}
