//! Where am I.

use axum::{
    extract::State,
    response::{IntoResponse, Response},
};
use http::{HeaderMap, Method, Uri, header::ORIGIN};
use ropeline_core::Claims;
use ropeline_store::Seen;
use ropeline_web::Shortcut;

use super::{
    credentials::Asking,
    place::{Place, PlaceView},
};
use crate::{app::App, error::ApiError};

/// Where it is asked, as the router has it.
const PATH: &str = "/api/v1/queue/status";

pub(crate) async fn status(State(app): State<App>, asking: Asking) -> Result<Response, ApiError> {
    let (claims, mut seen) = asking.claims(&app).await?;
    asking.check_not_older(&seen)?;
    let place = Place::of(&app, &claims, &mut seen).await?;
    Ok(view(&app, &asking, &claims, place, &seen))
}

/// The polls of all who wait in line, most of what a server is asked: the store need not be asked about them.
#[derive(Debug)]
pub(crate) struct Polls(pub(crate) App);

impl Shortcut for Polls {
    fn answer(&self, method: &Method, uri: &Uri, headers: &HeaderMap) -> Option<Response> {
        // What a page of another origin may see is for the router to say.
        let is_poll = uri.path() == PATH && method == Method::GET;
        if !is_poll || headers.contains_key(ORIGIN) {
            return None;
        }
        match Asking::of(&self.0, uri, headers) {
            Ok(asking) => {
                at_once(&self.0, &asking).unwrap_or_else(|error| Some(error.into_response()))
            }
            Err(problem) => Some(problem.into_response()),
        }
    }
}

fn at_once(app: &App, asking: &Asking) -> Result<Option<Response>, ApiError> {
    let Some((claims, seen)) = asking.claims_at_once(app)? else {
        return Ok(None);
    };
    let place = Place::in_line(app, &claims, &seen);
    Ok(place.map(|place| view(app, asking, &claims, place, &seen)))
}

fn view(app: &App, asking: &Asking, claims: &Claims, place: Place, seen: &Seen) -> Response {
    let token = asking.token.as_deref().unwrap_or_default();
    let view = PlaceView::of(token, claims, place, seen, app.now());
    view.json().into_response()
}
