//! The catalogue: every kind of problem that this service answers with.

use http::StatusCode;
pub use ropeline_gate::kinds::{
    NOT_ADMITTED, ROOM_CLOSED, ROOM_FULL, ROOM_NOT_FOUND, STORE_UNAVAILABLE, TOKEN_EXPIRED,
    TOKEN_INVALID, TOKEN_NOT_FOUND,
};
use ropeline_web::Kind;
pub use ropeline_web::{LOGIN_INVALID, LOGIN_REQUIRED, RATE_LIMITED, UNAUTHORIZED};

/// The user id was stated before and has a place, and the caller does not send its token.
pub const DUPLICATED_TOKEN: Kind = Kind {
    code: "DUPLICATED_TOKEN",
    status: StatusCode::CONFLICT,
    title: "This user has a place already",
};
/// A room of that name is there.
pub const ROOM_EXISTS: Kind = Kind {
    code: "ROOM_EXISTS",
    status: StatusCode::CONFLICT,
    title: "There is a room of that name",
};
/// The room cannot be deleted.
pub const ROOM_REQUIRED: Kind = Kind {
    code: "ROOM_REQUIRED",
    status: StatusCode::CONFLICT,
    title: "This room always exists",
};
/// The visitor has no place.
pub const VISITOR_NOT_FOUND: Kind = Kind {
    code: "VISITOR_NOT_FOUND",
    status: StatusCode::NOT_FOUND,
    title: "This user has no place in the room",
};

/// The session is not open.
pub const SESSION_NOT_FOUND: Kind = Kind {
    code: "SESSION_NOT_FOUND",
    status: StatusCode::NOT_FOUND,
    title: "This session is not open",
};

/// Every kind that this service answers with, next to those of the web crate.
pub const CATALOGUE: [&Kind; 17] = [
    &TOKEN_INVALID,
    &TOKEN_EXPIRED,
    &TOKEN_NOT_FOUND,
    &NOT_ADMITTED,
    &DUPLICATED_TOKEN,
    &ROOM_NOT_FOUND,
    &ROOM_CLOSED,
    &ROOM_FULL,
    &STORE_UNAVAILABLE,
    &UNAUTHORIZED,
    &ROOM_EXISTS,
    &ROOM_REQUIRED,
    &VISITOR_NOT_FOUND,
    &SESSION_NOT_FOUND,
    &RATE_LIMITED,
    &LOGIN_REQUIRED,
    &LOGIN_INVALID,
];
