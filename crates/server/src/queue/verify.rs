//! The gate: may this visitor in?

use axum::{
    extract::State,
    response::{IntoResponse, Response},
};
use http::StatusCode;
use ropeline_core::{Claims, Located, Pass, RoomId, Timestamp};
use ropeline_store::Seen;
use ropeline_web::Problem;

use super::{
    credentials::Asking,
    place::{Place, poll_after_ms},
};
use crate::{app::App, error::ApiError, moment::Moment};

pub(crate) async fn verify(
    State(app): State<App>,
    mut asking: Asking,
) -> Result<Response, Problem> {
    asking.room.get_or_insert_with(RoomId::main);
    let (claims, seen) = asking.claims(&app).await.map_err(ApiError::at_gate)?;
    let pass = renew(&app, &claims, seen)
        .await
        .map_err(ApiError::at_gate)?;
    Ok(enter(&claims, pass))
}

/// A live pass, renewed, and when it runs out by the time of day.
async fn renew(app: &App, claims: &Claims, mut seen: Seen) -> Result<Timestamp, ApiError> {
    let (room, now) = (&claims.aud, app.now());
    let place = match seen.view.locate(claims.ord) {
        Located::PassedBy => {
            let standing = app.store.renew(room, claims.holder()).await?;
            seen = app.seen(room)?;
            Place::standing(standing, &seen.view, claims.ord)?
        }
        _ => Place::of(app, claims, &mut seen).await?,
    };
    let room_now = seen.view.now(now);
    match place {
        Place::Inside(Pass { expires_at, .. }) => Ok(now + room_now.until(expires_at)),
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

fn enter(claims: &Claims, expires_at: Timestamp) -> Response {
    let user = claims.sub.user_id().unwrap_or(claims.sub.as_str());
    let expires_at = Moment(expires_at).to_string();
    let headers = [("x-queue-user", user), ("x-queue-expires-at", &expires_at)];
    if claims.vfd {
        let verified = [("x-queue-user-verified", "true")];
        return (StatusCode::NO_CONTENT, headers, verified).into_response();
    }
    (StatusCode::NO_CONTENT, headers).into_response()
}
