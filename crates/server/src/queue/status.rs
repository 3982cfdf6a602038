//! Where am I.

use axum::{
    extract::State,
    response::{IntoResponse, Response},
};
use ropeline_core::Claims;
use ropeline_store::Seen;

use super::{
    credentials::Asking,
    place::{Place, PlaceView},
};
use crate::{app::App, error::ApiError};

pub(crate) async fn status(State(app): State<App>, asking: Asking) -> Result<Response, ApiError> {
    let (claims, seen) = asking.claims(&app).await?;
    tell(&app, &asking, &claims, seen).await
}

/// The answer to somebody with these claims, for whom the store may have to be asked.
pub(super) async fn tell(
    app: &App,
    asking: &Asking,
    claims: &Claims,
    mut seen: Seen,
) -> Result<Response, ApiError> {
    asking.check_not_older(&seen)?;
    let place = Place::of(app, claims, &mut seen).await?;
    Ok(view(app, asking, claims, place, &seen))
}

/// The answer to somebody at this place.
pub(super) fn view(
    app: &App,
    asking: &Asking,
    claims: &Claims,
    place: Place,
    seen: &Seen,
) -> Response {
    let token = asking.token.as_deref().unwrap_or_default();
    let shown = asking.ahead_shown(claims);
    let view = PlaceView::of(token, claims, place, shown, seen, app.now());
    view.json().into_response()
}
