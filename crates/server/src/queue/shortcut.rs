//! What servers are asked most, past the router: polls and gate checks.

use axum::{extract::State, response::IntoResponse};
use http::{HeaderMap, Method, Uri, header::ORIGIN};
use ropeline_web::{Shortcut, Shortly};

use super::{
    credentials::Asking,
    place::Place,
    status::{status, tell, view},
    verify::verify,
};
use crate::app::App;

/// As the router has them.
const STATUS: &str = "/api/v1/queue/status";
const VERIFY: &str = "/api/v1/queue/verify";

/// The way of polls and gate checks. What a page of another origin may see is for the router to say, so who names an
/// origin goes there.
#[derive(Debug)]
pub(crate) struct Straight(pub(crate) App);

impl Shortcut for Straight {
    fn answer(&self, method: &Method, uri: &Uri, headers: &HeaderMap) -> Option<Shortly> {
        let answer = match uri.path() {
            STATUS => poll,
            VERIFY => check,
            _ => return None,
        };
        if method != Method::GET || headers.contains_key(ORIGIN) {
            return None;
        }
        Some(match Asking::of(&self.0, uri, headers) {
            Ok(asking) => answer(&self.0, asking),
            Err(problem) => Shortly::Now(problem.into_response()),
        })
    }
}

/// Who is in line is answered at once: the store need not be asked about them.
fn poll(app: &App, asking: Asking) -> Shortly {
    let known = match asking.claims_at_once(app) {
        Ok(known) => known,
        Err(error) => return Shortly::Now(error.into_response()),
    };
    if let Some((claims, seen)) = &known
        && let Some(place) = Place::in_line(app, claims, seen)
    {
        return Shortly::Now(view(app, &asking, claims, place, seen));
    }
    let app = app.clone();
    Shortly::Later(Box::pin(async move {
        let answer = match known {
            Some((claims, seen)) => tell(&app, &asking, &claims, seen).await,
            None => status(State(app), asking).await,
        };
        answer.into_response()
    }))
}

fn check(app: &App, asking: Asking) -> Shortly {
    let app = app.clone();
    Shortly::Later(Box::pin(async move {
        verify(State(app), asking).await.into_response()
    }))
}
