//! What servers are asked most, past the router: joins, polls and gate checks.

use std::net::SocketAddr;

use axum::{
    extract::{Request, State},
    response::{IntoResponse, Response},
};
use http::{HeaderMap, Method, Uri, header::ORIGIN};
use ropeline_web::{Client, Json, JsonBody, Shortcut, Shortly};

use super::{
    credentials::Asking,
    join::{JoinHeaders, JoinRequest},
    place::Place,
    status::{status, tell, view},
    verify::verify,
};
use crate::app::App;

/// As the router has them.
const TOKENS: &str = "/api/v1/queue/tokens";
const STATUS: &str = "/api/v1/queue/status";
const VERIFY: &str = "/api/v1/queue/verify";

/// The way of joins, polls and gate checks. What a page of another origin may see is for the router to say, so who names
/// an origin goes there.
#[derive(Debug)]
pub(crate) struct Straight(pub(crate) App);

impl Shortcut for Straight {
    fn takes(&self, method: &Method, uri: &Uri, headers: &HeaderMap) -> bool {
        let taken = match uri.path() {
            TOKENS => Method::POST,
            STATUS | VERIFY => Method::GET,
            _ => return false,
        };
        *method == taken && !headers.contains_key(ORIGIN)
    }

    fn answer(&self, request: Request, peer: SocketAddr) -> Shortly {
        let answer = match request.uri().path() {
            STATUS => poll,
            VERIFY => check,
            _ => return enter(&self.0, request, peer),
        };
        match Asking::of(&self.0, request.uri(), request.headers()) {
            Ok(asking) => answer(&self.0, asking),
            Err(problem) => Shortly::Now(problem.into_response()),
        }
    }
}

fn enter(app: &App, request: Request, peer: SocketAddr) -> Shortly {
    let client = Client::at(peer, request.headers(), &app.trusted_proxies);
    let headers = match JoinHeaders::of(request.headers(), client, app) {
        Ok(headers) => headers,
        Err(error) => return Shortly::Now(error.into_response()),
    };
    let (app, body) = (app.clone(), JsonBody::of(request));
    later(async move {
        match body.read::<JoinRequest>().await {
            Ok(Json(request)) => request.answer(&app, &headers).await.into_response(),
            Err(problem) => problem.into_response(),
        }
    })
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
    later(async move {
        let answer = match known {
            Some((claims, seen)) => tell(&app, &asking, &claims, seen).await,
            None => status(State(app), asking).await,
        };
        answer.into_response()
    })
}

fn check(app: &App, asking: Asking) -> Shortly {
    let app = app.clone();
    later(async move { verify(State(app), asking).await.into_response() })
}

fn later(answer: impl Future<Output = Response> + Send + 'static) -> Shortly {
    Shortly::Later(Box::pin(answer))
}
