//! The gate: may this visitor in?

use axum::{
    extract::State,
    response::{IntoResponse, Response},
};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use ropeline_core::{Claims, Located, Pass, RoomId, Timestamp};
use ropeline_store::Seen;
use ropeline_web::Problem;

use super::{
    credentials::Asking,
    outage::Verdict,
    place::{Place, poll_after_ms},
};
use crate::{app::App, error::ApiError, metrics::GateOutcome, moment::Moment};

const X_QUEUE_USER: HeaderName = HeaderName::from_static("x-queue-user");
const X_QUEUE_USER_VERIFIED: HeaderName = HeaderName::from_static("x-queue-user-verified");
const X_QUEUE_EXPIRES_AT: HeaderName = HeaderName::from_static("x-queue-expires-at");

/// Somebody who may go on.
#[derive(Debug)]
pub(crate) enum Entry {
    /// Inside, up to then by the time of day unless the pass is used again.
    Inside(Claims, Timestamp),
    /// The store is away, and the operator lets everybody through; what is signed is known of who has a genuine token.
    Unchecked(Option<Claims>),
}

pub(crate) async fn verify(
    State(app): State<App>,
    mut asking: Asking,
) -> Result<Response, Problem> {
    asking.room.get_or_insert_with(RoomId::main);
    match judge(&app, &asking).await {
        Ok(Entry::Inside(claims, until)) => Ok(enter(&claims, Some(until))),
        Ok(Entry::Unchecked(Some(claims))) => Ok(enter(&claims, None)),
        Ok(Entry::Unchecked(None)) => Ok(StatusCode::NO_CONTENT.into_response()),
        Err(error) => Err(error.at_gate()),
    }
}

/// Whether who asks may go on, whose pass is renewed. Every answer is counted.
pub(crate) async fn judge(app: &App, asking: &Asking) -> Result<Entry, ApiError> {
    let answer = decide(app, asking).await;
    if let Some((room, outcome)) = asking.room.as_ref().zip(outcome(&answer)) {
        app.metrics.count_gate(room, outcome, &*app.store);
    }
    answer
}

/// What an answer is counted as; mistakes of whoever asks are not.
fn outcome(answer: &Result<Entry, ApiError>) -> Option<GateOutcome> {
    match answer {
        Ok(Entry::Inside(..)) => Some(GateOutcome::Admitted),
        Ok(Entry::Unchecked(_)) => Some(GateOutcome::Unchecked),
        Err(ApiError::NotAdmitted { .. }) => Some(GateOutcome::Waiting),
        Err(ApiError::TokenEnded(..)) => Some(GateOutcome::Ended),
        Err(ApiError::TokenInvalid) => Some(GateOutcome::NoToken),
        Err(ApiError::Store(_)) => Some(GateOutcome::Unavailable),
        Err(_) => None,
    }
}

async fn decide(app: &App, asking: &Asking) -> Result<Entry, ApiError> {
    let opens = |room| app.outage.opens_gate(&app.store.health_of(room));
    if asking.room.as_ref().is_some_and(opens) {
        return Ok(let_through(app, asking.genuine(app)));
    }
    let (claims, mut seen) = asking.claims(app).await?;
    let pass = match asking.check_not_older(&seen) {
        Ok(()) => renew(app, asking, &claims, &mut seen).await,
        Err(older) => Err(older),
    };
    match pass {
        Err(ApiError::Store(error)) => {
            let lease = app.lease(&claims, &seen);
            match app.outage.verdict(&error, lease) {
                Verdict::Refuse => Err(error.into()),
                Verdict::LetThrough => Ok(let_through(app, Some(claims))),
                Verdict::Leased { until } => {
                    app.count_unchecked();
                    Ok(Entry::Inside(claims, until))
                }
            }
        }
        pass => Ok(Entry::Inside(claims, pass?)),
    }
}

/// A live pass, renewed, and when it runs out by the time of day.
async fn renew(
    app: &App,
    asking: &Asking,
    claims: &Claims,
    seen: &mut Seen,
) -> Result<Timestamp, ApiError> {
    let (room, now) = (&claims.aud, app.now());
    let place = match seen.view.locate(claims.ord) {
        Located::PassedBy => {
            let standing = app.store.renew(room, claims.holder()).await?;
            *seen = app.seen(room)?;
            let place = Place::standing(standing, &seen.view, claims.ord)?;
            place.remember(app, claims, seen);
            place
        }
        _ => Place::of(app, claims, seen).await?,
    };
    let room_now = seen.view.now(now);
    match place {
        Place::Inside(Pass { expires_at, .. }) => Ok(now + room_now.until(expires_at)),
        Place::Leased(until) => Ok(until),
        waiting => Err(ApiError::NotAdmitted {
            position: waiting.position(asking.ahead_shown(claims)),
            poll_after_ms: poll_after_ms(
                waiting.outlook(&seen.view, room_now),
                &seen.view,
                room_now,
                claims.ord,
            ),
        }),
    }
}

/// Opens the gate without knowing whether it should.
fn let_through(app: &App, claims: Option<Claims>) -> Entry {
    app.count_unchecked();
    Entry::Unchecked(claims)
}

fn enter(claims: &Claims, expires_at: Option<Timestamp>) -> Response {
    let mut headers = HeaderMap::new();
    let user = claims.sub.user_id().unwrap_or(claims.sub.as_str());
    headers.insert(X_QUEUE_USER, value(user));
    if claims.vfd {
        headers.insert(X_QUEUE_USER_VERIFIED, HeaderValue::from_static("true"));
    }
    if let Some(at) = expires_at {
        headers.insert(X_QUEUE_EXPIRES_AT, value(&Moment(at).to_string()));
    }
    let mut answer = StatusCode::NO_CONTENT.into_response();
    *answer.headers_mut() = headers;
    answer
}

fn value(text: &str) -> HeaderValue {
    HeaderValue::from_str(text).expect("visitors and moments are visible ASCII")
}
