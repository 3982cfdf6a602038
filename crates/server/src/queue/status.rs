//! Where am I.

use axum::{
    extract::State,
    response::{IntoResponse, Response},
};
use ropeline_web::Json;

use super::{
    credentials::Asking,
    place::{Place, PlaceView},
};
use crate::{app::App, error::ApiError};

pub(crate) async fn status(State(app): State<App>, asking: Asking) -> Result<Response, ApiError> {
    let (ticket, mut seen) = asking.ticket(&app).await?;
    let place = Place::of(&app, &ticket, &mut seen).await?;
    let token = asking.token.as_deref().unwrap_or_default();
    let view = PlaceView::of(token, &ticket.claims, place, &seen, app.now());
    Ok(Json(view).into_response())
}
