//! The gate: may this visitor in?

use axum::{
    extract::State,
    response::{AppendHeaders, IntoResponse, Response},
};
use http::StatusCode;
use ropeline_core::{Claims, Located, Pass, RoomId, Timestamp};
use ropeline_store::Seen;
use ropeline_web::Problem;

use super::{
    credentials::Asking,
    outage::Verdict,
    place::{Place, poll_after_ms},
};
use crate::{app::App, error::ApiError, moment::Moment};

pub(crate) async fn verify(
    State(app): State<App>,
    mut asking: Asking,
) -> Result<Response, Problem> {
    let room = asking.room.get_or_insert_with(RoomId::main);
    if app.outage.opens_gate(&app.store.health_of(room)) {
        return Ok(let_through(&app, asking.genuine(&app).as_ref()));
    }
    let judged = judge(&app, &asking).await;
    judged.map_err(ApiError::at_gate)
}

async fn judge(app: &App, asking: &Asking) -> Result<Response, ApiError> {
    let (claims, mut seen) = asking.claims(app).await?;
    let pass = match asking.check_not_older(&seen) {
        Ok(()) => renew(app, &claims, &mut seen).await,
        Err(older) => Err(older),
    };
    match pass {
        Err(ApiError::Store(error)) => {
            let lease = app.lease(&claims, &seen);
            match app.outage.verdict(&error, lease) {
                Verdict::Refuse => Err(error.into()),
                Verdict::LetThrough => Ok(let_through(app, Some(&claims))),
                Verdict::Leased { until } => {
                    app.count_unchecked();
                    Ok(enter(&claims, Some(until)))
                }
            }
        }
        pass => Ok(enter(&claims, Some(pass?))),
    }
}

/// A live pass, renewed, and when it runs out by the time of day.
async fn renew(app: &App, claims: &Claims, seen: &mut Seen) -> Result<Timestamp, ApiError> {
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
            position: waiting.position(),
            poll_after_ms: poll_after_ms(
                waiting.wait(&seen.view, room_now),
                &seen.view,
                claims.ord,
            ),
        }),
    }
}

/// Opens the gate without knowing whether it should. Only what is signed is said of the visitor.
fn let_through(app: &App, claims: Option<&Claims>) -> Response {
    app.count_unchecked();
    match claims {
        Some(claims) => enter(claims, None),
        None => StatusCode::NO_CONTENT.into_response(),
    }
}

fn enter(claims: &Claims, expires_at: Option<Timestamp>) -> Response {
    let user = claims.sub.user_id().unwrap_or(claims.sub.as_str());
    let verified = claims.vfd.then_some(("x-queue-user-verified", "true"));
    let expires_at = expires_at.map(|at| ("x-queue-expires-at", Moment(at).to_string()));
    (
        StatusCode::NO_CONTENT,
        [("x-queue-user", user)],
        AppendHeaders(verified),
        AppendHeaders(expires_at),
    )
        .into_response()
}
