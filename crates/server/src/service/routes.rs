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
    _: Service,
    State(app): State<App>,
    Path(room): Path<RoomId>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    match rules::verify(&app, &room, header_token(&headers)).await {
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
    _: Service,
    State(app): State<App>,
    Path(room): Path<RoomId>,
    Json(ServiceJoin { user_id }): Json<ServiceJoin>,
) -> Result<Response, ApiError> {
    let holding = rules::join(&app, &room, user_id).await?;
    Ok(holding.answer(&app))
}

pub(crate) async fn keep(
    _: Service,
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
    rules::keep(&app, &room, holder, Duration::from_millis(milliseconds)).await?;
    Ok(StatusCode::NO_CONTENT)
}

pub(crate) async fn finish(
    _: Service,
    State(app): State<App>,
    Path(room): Path<RoomId>,
    Json(Finish { visitor, ordinal }): Json<Finish>,
) -> Result<StatusCode, ApiError> {
    rules::finish(&app, &room, Holder { visitor, ordinal }).await?;
    Ok(StatusCode::NO_CONTENT)
}

pub(crate) async fn stock(
    _: Service,
    State(app): State<App>,
    Path(room): Path<RoomId>,
    Json(Stock { left }): Json<Stock>,
) -> Result<StatusCode, ApiError> {
    rules::stock(&app, &room, left).await?;
    Ok(StatusCode::NO_CONTENT)
}
