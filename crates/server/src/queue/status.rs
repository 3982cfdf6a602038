//! Where am I.

use axum::{
    extract::State,
    response::{IntoResponse, Response},
};

use super::{
    credentials::Asking,
    place::{Place, PlaceView},
};
use crate::{app::App, error::ApiError};

pub(crate) async fn status(State(app): State<App>, asking: Asking) -> Result<Response, ApiError> {
    let (claims, mut seen) = asking.claims(&app).await?;
    asking.check_not_older(&seen)?;
    let place = Place::of(&app, &claims, &mut seen).await?;
    let token = asking.token.as_deref().unwrap_or_default();
    let view = PlaceView::of(token, &claims, place, &seen, app.now());
    Ok(view.json().into_response())
}
