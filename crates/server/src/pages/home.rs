//! The home page: what this is, and the rooms there are.

use axum::{extract::State, response::Response};
use http::{HeaderMap, Uri, header::HOST};
use minijinja::{Value, context};
use ropeline_core::{RoomId, Timestamp, View, estimate};
use ropeline_web::pages::{Page, Texts};
use url::Url;

use super::span;
use crate::{app::App, config::PublicUrl};

pub(crate) async fn home(
    State(app): State<App>,
    page: Page,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    let now = app.now();
    let rooms = app.store.rooms().into_iter().filter_map(|room| {
        let seen = app.store.view(&room)?;
        Some(card(page.texts(), &room, &seen.view, now))
    });
    let content = context! {
        rooms => rooms.collect::<Vec<_>>(),
        origin => origin(app.public_url.as_ref(), &headers),
    };
    page.render("home.html", uri.path(), content)
}

fn card(texts: &Texts, room: &RoomId, view: &View, now: Timestamp) -> Value {
    let state = view.word_for_visitors();
    let wait = match estimate(view, view.waiting(), view.now(now)) {
        None => texts.get("home", "unknown_wait").to_owned(),
        Some(estimate) if estimate.high.is_zero() => texts.get("home", "no_wait").to_owned(),
        Some(estimate) => span::band(texts, estimate.low.as_secs(), estimate.high.as_secs()),
    };
    context! {
        name => room.as_str(),
        state,
        word => texts.get("state", state),
        waiting => view.waiting(),
        inside => view.inside,
        wait,
    }
}

/// Where this server is seen: as the operator said, else as the browser calls it.
fn origin(public_url: Option<&PublicUrl>, headers: &HeaderMap) -> String {
    if let Some(url) = public_url {
        return url.as_str().to_owned();
    }
    let host = headers.get(HOST).and_then(|host| host.to_str().ok());
    let url = host.and_then(|host| Url::parse(&format!("http://{host}")).ok());
    let origin = url.map(|url| url.origin().ascii_serialization());
    origin.unwrap_or_else(|| "http://localhost".to_owned())
}
