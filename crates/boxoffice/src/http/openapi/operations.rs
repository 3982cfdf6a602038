//! What each route does.

use http::StatusCode;
use ropeline_gate::kinds::{
    NOT_ADMITTED, ROOM_CLOSED, ROOM_FULL, ROOM_NOT_FOUND, STORE_UNAVAILABLE, TOKEN_EXPIRED,
    TOKEN_INVALID,
};
use ropeline_web::{
    CROSS_SITE, IDEMPOTENCY_KEY_REUSED, INVALID_REQUEST, LOGIN_INVALID, LOGIN_REQUIRED,
    MISDIRECTED_REQUEST, NOT_FOUND, RATE_LIMITED, UNAUTHORIZED,
    openapi::{Route, text},
};
use serde_json::{Value, json};
use utoipa::openapi::{
    ContentBuilder, HttpMethod, KnownFormat, ObjectBuilder, Required, ResponseBuilder,
    SchemaFormat, Type,
};

use crate::http::error::{
    ALREADY_PAID, CONCERT_NOT_FOUND, DATE_NOT_FOUND, HOLD_COOLDOWN, HOLD_EXPIRED, HOLD_GIVEN_UP,
    HOLD_LIMIT, HOLD_RATE_LIMITED, INSUFFICIENT_POINTS, INVALID_AMOUNT, RESERVATION_NOT_FOUND,
    SEAT_NOT_FOUND, SEAT_TAKEN, TICKET_LIMIT, TOKEN_NOT_VERIFIED, USER_MISMATCH, USER_NOT_FOUND,
};

const OK: StatusCode = StatusCode::OK;
const CREATED: StatusCode = StatusCode::CREATED;
const NO_CONTENT: StatusCode = StatusCode::NO_CONTENT;
const MOMENT: &str = "2027-05-01T10:00:00.000Z";

/// Every route that programs use.
pub(super) fn operations() -> Vec<Route> {
    let all = [users(), points(), concerts(), reservations(), operators()];
    all.into_iter().flatten().map(in_place).collect()
}

fn users() -> Vec<Route> {
    const TOKEN: &str = "/user/{userId}/token/generate";
    let place = json!({"token": "eyJ…", "userId": "42", "position": 8, "remainingSeconds": 35, "status": "WAITING"});
    let generate = |route: Route| {
        own(route)
            .about("The place view of the room, with the token; position 0 is inside. A second call gives the same place.")
            .respond(OK, json_like("The place", place.clone()))
            .fails(&[&RATE_LIMITED, &ROOM_NOT_FOUND, &ROOM_CLOSED, &ROOM_FULL])
    };
    vec![
        Route::post("/user", "createUser", "Make a user and log them in")
            .about("Stands in for a site's own login: it asks for no password. The answer also sets the login cookie.")
            .body("NewUser", Required::True, json!({"name": "Kim"}))
            .answer(CREATED, "The user", "UserView", json!({"userId": 42, "accessToken": "eyJ…"}))
            .fails(&[&RATE_LIMITED, &INVALID_REQUEST]),
        generate(Route::get(TOKEN, "generateToken", "Join the line, or come back to one's place"))
            .fails(&[&CROSS_SITE]),
        generate(Route::post(TOKEN, "generateTokenByPost", "The same as a POST request")),
    ]
}

fn points() -> Vec<Route> {
    vec![
        own(repeatable(Route::patch(
            "/user/charge/{userId}/point",
            "chargePoints",
            "Charge points",
        )))
        .body("Charge", Required::True, json!({"amount": 100_000}))
        .answer(
            OK,
            "What the user has now",
            "ChargedView",
            json!({"userId": 42, "balance": 150_000, "charged": 100_000}),
        )
        .fails(&[&INVALID_AMOUNT, &USER_NOT_FOUND]),
        own(Route::get(
            "/user/{userId}/point",
            "points",
            "How many points a user has",
        ))
        .answer(
            OK,
            "What the user has",
            "PointsView",
            json!({"userId": 42, "balance": 150_000}),
        )
        .fails(&[&USER_NOT_FOUND]),
    ]
}

fn concerts() -> Vec<Route> {
    let dates = json!({"dates": [{"concertDateId": 1, "concertId": 1, "title": "Ropeline Live",
        "venue": "Ropeline Hall, Seoul", "timeZone": "Asia/Seoul", "startsAt": MOMENT,
        "startsAtLocal": "2027-05-01T19:00:00+09:00", "seatsLeft": 50}]});
    vec![
        gated(Route::get("/concert/dates", "dates", "Which dates there are"))
            .answer(OK, "All dates, the earliest first", "DateList", dates),
        gated(Route::get("/concert/{concertDateId}/seats", "seats", "The seats of a date"))
            .answer(OK, "All seats, by number", "SeatList", seats())
            .fails(&[&DATE_NOT_FOUND, &INVALID_REQUEST]),
        gated(Route::post("/concert/{seatId}/reservation", "reserve", "Hold a seat"))
            .about(
                "For five minutes, if the operator has not said otherwise; never extended. The buyer is the pass's visitor, \
                 and the pass must come from a login. Repeated, it is the same hold. `HOLD_COOLDOWN` and \
                 `HOLD_RATE_LIMITED` say in `Retry-After` when to try again.",
            )
            .answer(CREATED, "The hold", "ReservationView", held())
            .fails(&[
                &TOKEN_NOT_VERIFIED,
                &SEAT_NOT_FOUND,
                &SEAT_TAKEN,
                &HOLD_LIMIT,
                &TICKET_LIMIT,
                &HOLD_COOLDOWN,
                &HOLD_RATE_LIMITED,
                &USER_NOT_FOUND,
                &INVALID_REQUEST,
            ]),
    ]
}

fn reservations() -> Vec<Route> {
    let payment = json!({"paymentId": 1, "reservationId": 1, "amount": 150_000, "balance": 0, "paidAt": MOMENT});
    vec![
        own(Route::get(
            "/user/{userId}/reservations",
            "reservations",
            "A user's holds and bookings",
        ))
        .answer(
            OK,
            "The newest first",
            "ReservationList",
            json!({"reservations": [held()]}),
        ),
        own(repeatable(Route::post(
            "/user-concert/payment/{userId}/{reservationId}",
            "pay",
            "Pay for a seat",
        )))
        .about(
            "Once, however often it is asked for. For a minute after the hold has run out, if the operator has not said \
             otherwise, it is honoured if the seat is still free and the user is within the limits of a new hold. If \
             nothing else is held, the pass ends and the next visitor comes in.",
        )
        .answer(OK, "The payment", "PaymentView", payment)
        .fails(&[
            &RESERVATION_NOT_FOUND,
            &HOLD_EXPIRED,
            &HOLD_LIMIT,
            &TICKET_LIMIT,
            &HOLD_GIVEN_UP,
            &INSUFFICIENT_POINTS,
            &USER_NOT_FOUND,
        ]),
        logged_in(Route::delete("/reservation/{reservationId}", "giveUp", "Give up a hold"))
            .about("Repeating it does no harm.")
            .respond(NO_CONTENT, ResponseBuilder::new().description("It has ended, now or before"))
            .fails(&[&RESERVATION_NOT_FOUND, &ALREADY_PAID, &USER_NOT_FOUND]),
    ]
}

fn operators() -> Vec<Route> {
    let draft = json!({"title": "Ropeline Live", "timeZone": "Asia/Seoul", "venue": "Ropeline Hall, Seoul"});
    let concert = json!({"concertId": 1, "title": "Ropeline Live", "timeZone": "Asia/Seoul",
        "venue": "Ropeline Hall, Seoul"});
    let date = json!({"startsAt": MOMENT, "seats": [{"number": 1, "price": 150_000}]});
    vec![
        admin(Route::post(
            "/api/v1/admin/concerts",
            "createConcert",
            "Put up a concert",
        ))
        .about("Pages tell its times by the clocks of `timeZone`, and name the zone.")
        .body("NewConcert", Required::True, draft)
        .answer(CREATED, "The concert", "ConcertView", concert.clone()),
        admin(Route::patch(
            "/api/v1/admin/concerts/{concertId}",
            "changeConcert",
            "Change what is said of a concert",
        ))
        .about("What is left out stays. The dates begin when they did; another `timeZone` only tells them by other clocks.")
        .body("ChangedConcert", Required::False, json!({"timeZone": "Asia/Seoul"}))
        .answer(OK, "The concert", "ConcertView", concert)
        .fails(&[&CONCERT_NOT_FOUND]),
        admin(Route::post(
            "/api/v1/admin/concerts/{concertId}/dates",
            "createDate",
            "Put up a date with all its seats",
        ))
        .about("A date that the concert has already is answered as it is.")
        .body("NewDate", Required::True, date)
        .answer(CREATED, "The date's seats", "SeatList", seats())
        .fails(&[&CONCERT_NOT_FOUND, &INVALID_AMOUNT]),
    ]
}

/// What a box office that is served alone has for itself.
pub(super) fn alone() -> Vec<Route> {
    let unavailable = json!({"status": "unavailable", "degraded": [
        {"part": "room", "reason": "The waiting room does not answer."}]});
    let html = ContentBuilder::new().example(Some(json!("<!doctype html>")));
    vec![
        Route::get("/healthz", "alive", "The process answers")
            .respond(OK, json_like("It does", json!({"status": "ok"}))),
        Route::get("/readyz", "ready", "Seats can be sold")
            .about(
                "The database and the waiting room are probed every second; `degraded` names those that do not answer.",
            )
            .respond(OK, json_like("They can", json!({"status": "ready", "degraded": []})))
            .respond(
                StatusCode::SERVICE_UNAVAILABLE,
                json_like("They cannot, or the server is starting or stopping", unavailable),
            ),
        Route::get("/problems/{code}", "explainProblem", "What a code means, and what to do")
            .in_path("code", "The code, as `token-expired`.", text())
            .respond(
                OK,
                json_like(
                    "The explanation; HTML for a browser",
                    json!({"code": "SEAT_TAKEN", "status": 409, "title": "The seat is taken"}),
                )
                .content("text/html", html.build()),
            )
            .fails(&[&NOT_FOUND]),
        Route::get("/openapi.json", "openapi", "This description")
            .respond(OK, json_like("It", json!({"openapi": "3.1.0"}))),
    ]
}

/// With its heading, what the names in its path stand for, and what every route can fail with.
fn in_place(route: Route) -> Route {
    let route = match route.method {
        HttpMethod::Get => route,
        _ => route.fails(&[&CROSS_SITE]),
    };
    let route = route
        .tag("box office")
        .fails(&[&STORE_UNAVAILABLE, &MISDIRECTED_REQUEST]);
    let names = route.names_in_path();
    names.fold(route, |route, name| {
        let about = match name {
            "userId" => "The user's id.",
            "concertDateId" => "The date's id.",
            "seatId" => "The seat's id.",
            "reservationId" => "The reservation's id.",
            _ => "The concert's id.",
        };
        route.in_path(name, about, id())
    })
}

fn id() -> ObjectBuilder {
    ObjectBuilder::new()
        .schema_type(Type::Integer)
        .format(Some(SchemaFormat::KnownFormat(KnownFormat::Int64)))
}

/// For whoever has logged in.
fn logged_in(route: Route) -> Route {
    route
        .secured(&["accessToken"])
        .fails(&[&LOGIN_REQUIRED, &LOGIN_INVALID, &INVALID_REQUEST])
}

/// For the user whom the path names.
fn own(route: Route) -> Route {
    logged_in(route).fails(&[&USER_MISMATCH])
}

/// For whoever is inside.
fn gated(route: Route) -> Route {
    route
        .secured(&["queueToken"])
        .fails(&[&TOKEN_INVALID, &TOKEN_EXPIRED, &NOT_ADMITTED])
}

fn admin(route: Route) -> Route {
    route
        .secured(&["adminKey"])
        .fails(&[&UNAUTHORIZED, &RATE_LIMITED, &INVALID_REQUEST])
}

fn repeatable(route: Route) -> Route {
    let key = text().min_length(Some(1)).max_length(Some(255));
    route
        .header(
            "Idempotency-Key",
            "Makes a lost answer repeatable: the same key is done once, and answered alike.",
            key,
        )
        .fails(&[&IDEMPOTENCY_KEY_REUSED])
}

fn json_like(what: &str, example: Value) -> ResponseBuilder {
    let content = ContentBuilder::new().example(Some(example));
    ResponseBuilder::new()
        .description(what)
        .content("application/json", content.build())
}

fn held() -> Value {
    json!({"reservationId": 1, "seatId": 1, "concertDateId": 1, "number": 1, "price": 150_000,
        "state": "HELD", "holdUntil": MOMENT, "remainingMs": 300_000})
}

fn seats() -> Value {
    json!({"concertDateId": 1, "seats": [{"seatId": 1, "number": 1, "price": 150_000, "state": "FREE"}]})
}
