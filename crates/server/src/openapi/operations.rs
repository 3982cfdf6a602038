//! What each route does.

use http::StatusCode;
use ropeline_web::{CROSS_SITE, INVALID_REQUEST, Kind, MISDIRECTED_REQUEST, NOT_FOUND};
use serde_json::{Value, json};
use utoipa::openapi::{
    ContentBuilder, Header, HeaderBuilder, HttpMethod, ObjectBuilder, RefOr, Required,
    ResponseBuilder, Schema, Type,
};

use super::{
    route::{Route, USER_ID, in_place, number, room, text, user_id},
    service::service,
};
use crate::error::{
    DUPLICATED_TOKEN, LOGIN_INVALID, LOGIN_REQUIRED, NOT_ADMITTED, RATE_LIMITED, ROOM_CLOSED,
    ROOM_EXISTS, ROOM_FULL, ROOM_NOT_FOUND, ROOM_REQUIRED, SESSION_NOT_FOUND, STORE_UNAVAILABLE,
    TOKEN_EXPIRED, TOKEN_INVALID, TOKEN_NOT_FOUND, UNAUTHORIZED, VISITOR_NOT_FOUND,
};

const OK: StatusCode = StatusCode::OK;
const CREATED: StatusCode = StatusCode::CREATED;
const NO_CONTENT: StatusCode = StatusCode::NO_CONTENT;
const UNAVAILABLE: StatusCode = StatusCode::SERVICE_UNAVAILABLE;

/// Every route that programs use, on a server that explains these problems. Pages for people are not among them.
pub(super) fn operations(problems: &[String]) -> Vec<Route> {
    let all = [
        queue(),
        rooms(),
        control(),
        visitors(),
        sessions(),
        service(),
        monitoring(),
    ];
    let all = all.into_iter().flatten();
    let all = all.map(|route| match route.method {
        HttpMethod::Get => route,
        _ => route.fails(&[&CROSS_SITE]),
    });
    let all = all.map(|route| route.fails(&[&MISDIRECTED_REQUEST]));
    all.map(|route| in_place(route, problems)).collect()
}

fn queue() -> Vec<Route> {
    const TOKENS: &str = "/api/v1/queue/tokens";
    let token_problems: [&Kind; 5] = [
        &TOKEN_INVALID,
        &TOKEN_EXPIRED,
        &TOKEN_NOT_FOUND,
        &ROOM_NOT_FOUND,
        &STORE_UNAVAILABLE,
    ];
    vec![
        Route::post(TOKENS, "join", "Join the line, or resume a place")
            .about(
                "Gives a place behind everybody who was answered before. With the token of a live place \
                 in hand, that place is resumed. The answer also sets the room's cookie.",
            )
            .header(
                "Idempotency-Key",
                "Makes a lost answer repeatable: the same key gives the same place.",
                text().min_length(Some(1)).max_length(Some(255)),
            )
            .may_be_secured(&["login", "queueToken"])
            .body(
                "JoinRequest",
                Required::False,
                json!({"room": "main", "userId": "42"}),
            )
            .answer(CREATED, "A new place", "PlaceView", place())
            .answer(OK, "The place that the caller has already", "PlaceView", place())
            .fails(&[
                &ROOM_NOT_FOUND,
                &DUPLICATED_TOKEN,
                &ROOM_CLOSED,
                &ROOM_FULL,
                &LOGIN_REQUIRED,
                &LOGIN_INVALID,
                &INVALID_REQUEST,
                &RATE_LIMITED,
                &STORE_UNAVAILABLE,
            ]),
        with_token(Route::get("/api/v1/queue/status", "status", "Where am I"))
            .about("Renews nothing. Ask again after `pollAfterMs`.")
            .header(
                "X-Queue-Version",
                "The highest `version` seen, so that no answer is older than that.",
                number(),
            )
            .header(
                "X-Queue-Ahead",
                "The last `ahead` and the `ordinal` that it belongs to, as `7;ordinal=1208`, so that `ahead` never \
                 rises.",
                text(),
            )
            .answer(OK, "The place", "PlaceView", place())
            .fails(&token_problems)
            .fails(&[&INVALID_REQUEST]),
        with_token(Route::delete(TOKENS, "leave", "Leave the line, or finish with the pass"))
            .about("Repeating it does no harm.")
            .respond(NO_CONTENT, place_ended())
            .fails(&[&TOKEN_INVALID, &INVALID_REQUEST, &STORE_UNAVAILABLE]),
        with_token(Route::get("/api/v1/queue/verify", "verify", "May this visitor in"))
            .about(
                "The gate's question, which renews the pass. Proxies understand 401 and 403 only, so a \
                 place that is gone is 401 here.",
            )
            .respond(NO_CONTENT, gate_opens())
            .fails(&[
                &TOKEN_INVALID,
                &TOKEN_EXPIRED,
                &NOT_ADMITTED,
                &INVALID_REQUEST,
                &STORE_UNAVAILABLE,
            ]),
    ]
}

fn rooms() -> Vec<Route> {
    const ROOMS: &str = "/api/v1/admin/rooms";
    const ROOM: &str = "/api/v1/admin/rooms/{room}";
    let list = json!({"rooms": [room_example()]});
    let new = json!({"room": "album-sale", "policy": {"activeMax": 200, "passTtl": "10m"}});
    vec![
        admin(Route::get(ROOMS, "listRooms", "Every room in figures")).answer(
            OK,
            "The rooms",
            "RoomList",
            list,
        ),
        admin(Route::post(ROOMS, "createRoom", "Make a room"))
            .body("NewRoom", Required::True, new)
            .answer(CREATED, "The room", "RoomView", room_example())
            .fails(&[&ROOM_EXISTS, &INVALID_REQUEST, &STORE_UNAVAILABLE]),
        in_room(Route::get(ROOM, "showRoom", "One room in figures")).answer(
            OK,
            "The room",
            "RoomView",
            room_example(),
        ),
        in_room(Route::patch(
            ROOM,
            "changeRoom",
            "Change how a room lets people in",
        ))
        .about("What is left out stays. Holds at once and over a restart; puts nobody out.")
        .body(
            "RoomChange",
            Required::True,
            json!({"policy": {"batch": 100, "activeMax": null}}),
        )
        .answer(OK, "The room", "RoomView", room_example())
        .fails(&[&STORE_UNAVAILABLE]),
        in_room(Route::delete(
            ROOM,
            "deleteRoom",
            "Delete a room and put everybody out",
        ))
        .about("Made again, it begins anew: no token of before is good for it.")
        .respond(NO_CONTENT, described("There is no such room any more"))
        .fails(&[&ROOM_REQUIRED, &STORE_UNAVAILABLE]),
        in_room(Route::get(
            "/api/v1/admin/rooms/{room}/stats",
            "roomStats",
            "Rates, waits, and how good the estimates were",
        ))
        .query(
            "window",
            "How far back waits, estimates and the series look, 60s to 12h.",
            text()
                .pattern(Some("^[0-9]{1,9}(ms|s|m|h|d)$"))
                .examples([json!("15m")]),
        )
        .answer(OK, "The figures", "StatsView", stats_example()),
    ]
}

fn control() -> Vec<Route> {
    let word = |path, id: &str, summary: &str| {
        in_room(Route::post(path, id, summary))
            .answer(OK, "The room", "RoomView", room_example())
            .fails(&[&STORE_UNAVAILABLE])
    };
    vec![
        word(
            "/api/v1/admin/rooms/{room}/pause",
            "pauseRoom",
            "Admit nobody; joins wait",
        ),
        word(
            "/api/v1/admin/rooms/{room}/resume",
            "resumeRoom",
            "End a pause",
        ),
        word("/api/v1/admin/rooms/{room}/open", "openRoom", "Take joins"),
        word(
            "/api/v1/admin/rooms/{room}/close",
            "closeRoom",
            "Take no joins; the line goes on",
        ),
        word(
            "/api/v1/admin/rooms/{room}/drain",
            "drainRoom",
            "Take no joins, and be closed once empty",
        ),
        word(
            "/api/v1/admin/rooms/{room}/reset",
            "resetRoom",
            "Everybody out; counting goes on",
        ),
        word(
            "/api/v1/admin/rooms/{room}/admit",
            "admitMore",
            "Admit more in this tick",
        )
        .about("Adds to this tick's batch, never to the cap.")
        .body("Admit", Required::True, json!({"count": 100})),
    ]
}

fn visitors() -> Vec<Route> {
    const VISITORS: &str = "/api/v1/admin/rooms/{room}/visitors";
    const VISITOR: &str = "/api/v1/admin/rooms/{room}/visitors/{userId}";
    const PATH_LIMIT: &str = "For user ids that may be in a path: none with a segment of dots.";
    let named = |route: Route| route.required_query("userId", USER_ID, user_id());
    vec![
        find_visitor(named(Route::get(
            VISITORS,
            "findVisitor",
            "Where a visitor is",
        ))),
        revoke_visitor(named(Route::delete(
            VISITORS,
            "revokeVisitor",
            "Put a visitor out",
        ))),
        find_visitor(
            Route::get(VISITOR, "findVisitorByPath", "Where a visitor is").about(PATH_LIMIT),
        ),
        revoke_visitor(
            Route::delete(VISITOR, "revokeVisitorByPath", "Put a visitor out").about(PATH_LIMIT),
        ),
    ]
}

fn find_visitor(route: Route) -> Route {
    let visitor = json!({
        "room": "main", "userId": "42", "verified": true, "ordinal": 1208, "status": "WAITING", "position": 8,
        "etaSeconds": 35, "expiresAt": null,
    });
    let which = "`true` for the visitor whom a login or a service vouches for, `false` for the one who merely stated \
                 the user id. Left out: the verified one if there is one, else the other.";
    let boolean = ObjectBuilder::new().schema_type(Type::Boolean);
    in_room(route)
        .query("verified", which, boolean)
        .answer(OK, "The visitor", "VisitorView", visitor)
        .fails(&[&VISITOR_NOT_FOUND, &STORE_UNAVAILABLE])
}

fn revoke_visitor(route: Route) -> Route {
    let which = "As for `GET`. Left out: both places end.";
    let boolean = ObjectBuilder::new().schema_type(Type::Boolean);
    in_room(route)
        .query("verified", which, boolean)
        .respond(NO_CONTENT, described("The place is gone"))
        .fails(&[&VISITOR_NOT_FOUND, &STORE_UNAVAILABLE])
}

fn sessions() -> Vec<Route> {
    const SESSIONS: &str = "/api/v1/admin/sessions";
    let session = json!({
        "id": "66793724d1c5f359b2698af2fb0fbd41", "openedAt": "2026-11-20T18:00:00.000Z", "lastUsedAt": "2026-11-20T19:30:00.000Z",
        "expiresAt": "2026-11-21T06:00:00.000Z", "address": "198.51.100.7", "current": false,
    });
    vec![
        admin(Route::get(
            SESSIONS,
            "listSessions",
            "Open sessions of the operators' page",
        ))
        .answer(
            OK,
            "The sessions, the oldest first",
            "SessionList",
            json!({"sessions": [session]}),
        )
        .fails(&[&STORE_UNAVAILABLE]),
        admin(Route::delete(SESSIONS, "endSessions", "End every session"))
            .about("On all nodes, within a second. Each browser has to log in again.")
            .answer(OK, "They are ended", "SessionsEnded", json!({"ended": 2}))
            .fails(&[&STORE_UNAVAILABLE]),
        admin(Route::delete(
            "/api/v1/admin/sessions/{session}",
            "endSession",
            "End a session",
        ))
        .respond(NO_CONTENT, described("It is ended"))
        .fails(&[&SESSION_NOT_FOUND, &INVALID_REQUEST, &STORE_UNAVAILABLE]),
    ]
}

fn monitoring() -> Vec<Route> {
    vec![
        Route::get("/healthz", "alive", "The process answers")
            .respond(OK, json_like("It does", json!({"status": "ok"}))),
        Route::get("/readyz", "ready", "Joins are served")
            .about("Stays 200 while the store is away, and names it: taking the room away would not help.")
            .respond(OK, json_like("They are", json!({"status": "ready", "degraded": []})))
            .respond(UNAVAILABLE, json_like("The server is stopping", json!({"status": "draining"}))),
        Route::get("/metrics", "metrics", "Figures for Prometheus").respond(
            OK,
            described("The figures").content("text/plain", ContentBuilder::new().build()),
        ),
        Route::get("/problems/{code}", "explainProblem", "What a code means, and what to do")
            .respond(
                OK,
                json_like(
                    "The explanation; HTML for a browser",
                    json!({"code": "TOKEN_EXPIRED", "status": 401, "title": "The pass has ended"}),
                )
                .content("text/html", ContentBuilder::new().example(Some(json!("<!doctype html>"))).build()),
            )
            .fails(&[&NOT_FOUND]),
        Route::get("/openapi.json", "openapi", "This description")
            .respond(OK, json_like("It", json!({"openapi": "3.1.0"}))),
    ]
}

fn with_token(route: Route) -> Route {
    route.secured(&["queueToken"]).query(
        "room",
        "Which room's cookie to use, and the room that the token must be for.",
        room(),
    )
}

fn admin(route: Route) -> Route {
    route
        .secured(&["adminKey"])
        .fails(&[&UNAUTHORIZED, &RATE_LIMITED])
}

fn in_room(route: Route) -> Route {
    admin(route).fails(&[&ROOM_NOT_FOUND, &INVALID_REQUEST])
}

pub(super) fn described(what: &str) -> ResponseBuilder {
    ResponseBuilder::new().description(what)
}

fn json_like(what: &str, example: Value) -> ResponseBuilder {
    let content = ContentBuilder::new().example(Some(example));
    described(what).content("application/json", content.build())
}

fn place_ended() -> ResponseBuilder {
    let about = "Of the room as it was then; with it, no node says anything older of the place.";
    described("The place has ended, now or before")
        .header("X-Queue-Version", header(number(), about))
}

fn header(value: impl Into<Schema>, about: &str) -> Header {
    let schema: RefOr<Schema> = RefOr::T(value.into());
    HeaderBuilder::new()
        .schema(Some(schema))
        .description(Some(about))
        .build()
}

fn gate_opens() -> ResponseBuilder {
    let header = |about| header(text(), about);
    described("A live pass, renewed")
        .header(
            "X-Queue-User",
            header("The user id, or the name of an anonymous visitor."),
        )
        .header(
            "X-Queue-User-Verified",
            header("`true`, only with a verified login."),
        )
        .header(
            "X-Queue-Expires-At",
            header("When the pass runs out unless it is used."),
        )
}

pub(super) fn place() -> Value {
    json!({
        "token": "eyJhbGciOiJIUzI1NiJ9.e30.c2ln", "room": "main", "userId": "42", "ordinal": 1208,
        "status": "WAITING", "position": 8, "ahead": 7, "behind": 120, "next": false,
        "beforeLine": false, "etaSeconds": 35,
        "etaRange": {"low": 30, "high": 45}, "admitAt": "2026-11-20T11:00:35.000Z",
        "issuedAt": "2026-11-20T10:58:00.000Z", "expiresAt": null, "remainingSeconds": 35,
        "pollAfterMs": 2000, "version": 5521, "asOf": "2026-11-20T11:00:00.000Z", "roomState": "OPEN",
        "seatsLeft": 120, "message": null,
    })
}

fn room_example() -> Value {
    json!({
        "room": "main", "state": "OPEN", "waiting": 128, "active": 200, "aside": 3, "door": 0,
        "issued": 1328, "head": 1200, "version": 5521, "createdAt": "2026-11-20T09:00:00.000Z",
        "policy": {
            "every": "5s", "batch": 50, "activeMax": 200, "passTtl": "5m", "passMax": "30m",
            "presenceTtl": "90s", "missedTurnTtl": "10m", "waitingMax": 5_000_000, "identity": "open",
        },
    })
}

fn stats_example() -> Value {
    json!({
        "room": "main", "state": "OPEN", "asOf": "2026-11-20T11:00:00.000Z",
        "since": "2026-11-20T10:00:00.000Z", "waiting": 128, "active": 200, "aside": 3, "door": 0,
        "estimate": {"seconds": 15, "low": 12, "high": 20},
        "totals": {
            "joined": 1328, "admitted": 1190, "departed": 990, "expired": 40, "finished": 950, "left": 7,
            "revoked": 0, "steppedOver": 6, "missed": 3, "restored": 0,
        },
        "perMinute": {"joined": 620.0, "admitted": 600.0, "departed": 590.0, "left": 2.0},
        "waits": {
            "count": 1190, "p50Seconds": 11.5, "p90Seconds": 19.0, "p99Seconds": 24.0, "maxSeconds": 25.5,
        },
        "estimates": {
            "count": 860, "meanErrorSeconds": -0.4, "meanAbsErrorSeconds": 1.2, "withinBand": 0.96,
        },
        "series": [
            {"at": "2026-11-20T10:59:59.000Z", "waiting": 131, "active": 200, "joined": 1318, "admitted": 1190},
        ],
    })
}
