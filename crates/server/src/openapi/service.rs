//! What each route of the service API does.

use http::StatusCode;
use ropeline_web::INVALID_REQUEST;
use serde_json::json;
use utoipa::openapi::Required;

use super::{
    operations::{described, place},
    route::Route,
};
use crate::error::{
    NOT_ADMITTED, RATE_LIMITED, ROOM_CLOSED, ROOM_FULL, ROOM_NOT_FOUND, STORE_UNAVAILABLE,
    TOKEN_EXPIRED, TOKEN_INVALID, UNAUTHORIZED,
};

const OK: StatusCode = StatusCode::OK;
const CREATED: StatusCode = StatusCode::CREATED;
const NO_CONTENT: StatusCode = StatusCode::NO_CONTENT;

pub(super) fn service() -> Vec<Route> {
    let holder = json!({"visitor": "v:42", "ordinal": 7});
    vec![
        verify(),
        join(),
        of_service(Route::post(
            "/api/v1/service/rooms/{room}/keep",
            "serviceKeep",
            "Keep a pass for business inside",
        ))
        .about(
            "The pass does not run out before the business does, within `passMax`. With 0 the business is over, and the \
             pass lasts as from a use now. Nothing happens to who is not inside.",
        )
        .body(
            "Keep",
            Required::True,
            json!({"visitor": "v:42", "ordinal": 7, "milliseconds": 300_000}),
        )
        .respond(NO_CONTENT, described("It is kept, or there is no such pass")),
        of_service(Route::post(
            "/api/v1/service/rooms/{room}/finish",
            "serviceFinish",
            "The visitor's business inside is done",
        ))
        .about("Ends the pass, and its slot is free for the next. Repeating it does no harm.")
        .body("Finish", Required::True, holder)
        .respond(NO_CONTENT, described("The pass has ended, now or before")),
        of_service(Route::get(
            "/api/v1/service/rooms/{room}/ready",
            "serviceReady",
            "Are joins taken in this room",
        ))
        .about(
            "For health checks of the service: 503 while the store of the room is unavailable. It changes nothing, and is \
             counted neither among the answers of the gate nor in the audit log.",
        )
        .respond(NO_CONTENT, described("They are")),
        of_service(Route::put(
            "/api/v1/service/rooms/{room}/stock",
            "serviceStock",
            "Say how much is left to sell",
        ))
        .about(
            "Those who wait see it as `seatsLeft`, and with 0 the room as `SOLD_OUT`. Joins and admissions go on: closing \
             the room is for its operators.",
        )
        .body("Stock", Required::True, json!({"left": 120}))
        .respond(NO_CONTENT, described("It is told")),
    ]
}

fn verify() -> Route {
    let inside = json!({
        "checked": true, "visitor": "v:42", "userId": "42", "ordinal": 7, "verified": true, "remainingMs": 299_000,
    });
    of_service(Route::post(
        "/api/v1/service/rooms/{room}/verify",
        "serviceVerify",
        "May this visitor in",
    ))
    .about("The gate's question about the token in `X-Queue-Token`, which renews the pass.")
    .header(
        "X-Queue-Token",
        "The visitor's queue token.",
        super::route::text(),
    )
    .answer(OK, "A live pass, renewed", "Entering", inside)
    .fails(&[&TOKEN_INVALID, &TOKEN_EXPIRED, &NOT_ADMITTED])
}

fn join() -> Route {
    of_service(Route::post(
        "/api/v1/service/rooms/{room}/tokens",
        "serviceJoin",
        "Join for a user whose login the service has verified",
    ))
    .about(
        "The user gets a place, or the one they have, and a token that says that they were verified. Without `userId` \
         somebody without a name gets a new place.",
    )
    .body("ServiceJoin", Required::False, json!({"userId": "42"}))
    .answer(CREATED, "A new place", "PlaceView", place())
    .answer(OK, "The place that the user has", "PlaceView", place())
    .fails(&[&ROOM_CLOSED, &ROOM_FULL])
}

fn of_service(route: Route) -> Route {
    route.secured(&["serviceKey"]).fails(&[
        &UNAUTHORIZED,
        &RATE_LIMITED,
        &ROOM_NOT_FOUND,
        &INVALID_REQUEST,
        &STORE_UNAVAILABLE,
    ])
}
