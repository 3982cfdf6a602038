//! The waiting page.
//!
//! With scripts the page joins, asks and moves on by itself over the API (`assets/wait.js`). Without them the
//! server writes all of it, forms take the place of buttons, and the page reloads itself; that is the plain
//! form of it, `?nojs=1`, where no script is sent at all.

mod here;
mod picture;

use axum::{
    Form,
    extract::State,
    response::{AppendHeaders, IntoResponse, Redirect, Response},
};
use http::{HeaderMap, Uri, header::SET_COOKIE};
use minijinja::context;
use ropeline_web::{
    Client, RequestId,
    pages::{Page, PagePath},
};
use serde::Deserialize;

use self::{here::Here, picture::Picture};
use crate::{
    app::App,
    error::ApiError,
    queue::{Asking, JoinHeaders, Place, PlaceView, depart, hold},
};

/// What the plain form of the page sends.
#[derive(Debug, Deserialize)]
pub(crate) struct Sent {
    key: Option<String>,
    #[serde(rename = "return")]
    return_to: Option<String>,
}

pub(crate) async fn wait(
    State(app): State<App>,
    page: Page,
    id: RequestId,
    PagePath(room): PagePath<String>,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    let Some(here) = Here::read(&app, &room, uri.query().unwrap_or_default()) else {
        return no_room(page);
    };
    let asking = Asking::by_cookie(&app, here.room.clone(), &headers);
    match picture(&app, &asking, page).await {
        Ok(picture) => match picture.destination(&here) {
            Some(return_to) => Redirect::to(return_to.as_str()).into_response(),
            None => picture.render(page, &here),
        },
        Err(error) => Picture::of_error(error, page, &here, &id).render(page, &here),
    }
}

pub(crate) async fn join(
    State(app): State<App>,
    page: Page,
    id: RequestId,
    client: Client,
    PagePath(room): PagePath<String>,
    headers: HeaderMap,
    Form(sent): Form<Sent>,
) -> Response {
    let Some(here) = Here::plain(&app, &room, sent.return_to.as_deref()) else {
        return no_room(page);
    };
    if let Err(error) = app.rates.join(client, app.now()) {
        return Picture::refused(error.into(), page, &id).render(page, &here);
    }
    let joining = JoinHeaders::of_page(&app, &headers, sent.key);
    match hold(&app, here.room.clone(), None, &joining).await {
        Ok(holding) => {
            let cookie = [(SET_COOKIE, holding.cookie(&app))];
            (cookie, Redirect::to(&here.link())).into_response()
        }
        Err(error) => Picture::refused(error, page, &id).render(page, &here),
    }
}

pub(crate) async fn leave(
    State(app): State<App>,
    page: Page,
    id: RequestId,
    PagePath(room): PagePath<String>,
    headers: HeaderMap,
    Form(sent): Form<Sent>,
) -> Response {
    let Some(here) = Here::plain(&app, &room, sent.return_to.as_deref()) else {
        return no_room(page);
    };
    let asking = Asking::by_cookie(&app, here.room.clone(), &headers);
    let departed = match depart(&app, &asking).await {
        Ok(departed) => departed,
        // Somebody without a place has nothing to leave.
        Err(ApiError::TokenInvalid) => None,
        Err(error) => return Picture::refused(error, page, &id).render(page, &here),
    };
    let forget = AppendHeaders(departed.map(|departed| (SET_COOKIE, departed.forget)));
    let back = Redirect::to(&Here { left: true, ..here }.link());
    (forget, back).into_response()
}

/// The page of somebody who has a live place.
async fn picture(app: &App, asking: &Asking, page: Page) -> Result<Picture, ApiError> {
    let (claims, mut seen) = asking.claims(app).await?;
    let place = Place::of(app, &claims, &mut seen).await?;
    let now = app.now();
    let view = PlaceView::of("", &claims, place, None, &seen, now);
    Ok(Picture::of_place(page.texts(), &view, seen.fresh_at, now))
}

fn no_room(page: Page) -> Response {
    page.render_failure(
        crate::error::ROOM_NOT_FOUND.status,
        "no_room.html",
        "/",
        context! {},
    )
}
