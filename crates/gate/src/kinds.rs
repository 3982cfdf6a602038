//! The kinds of problem that the gate and the room itself answer with, so that a client meets the same code at both.

use http::StatusCode;
use ropeline_web::Kind;

/// Missing, malformed, forged, or another room's.
pub const TOKEN_INVALID: Kind = Kind {
    code: "TOKEN_INVALID",
    status: StatusCode::UNAUTHORIZED,
    title: "The queue token is missing or not valid",
};
/// Genuine, was inside, is no longer.
pub const TOKEN_EXPIRED: Kind = Kind {
    code: "TOKEN_EXPIRED",
    status: StatusCode::UNAUTHORIZED,
    title: "The pass has ended",
};
/// Genuine, but its place is gone.
pub const TOKEN_NOT_FOUND: Kind = Kind {
    code: "TOKEN_NOT_FOUND",
    status: StatusCode::NOT_FOUND,
    title: "The place is gone",
};
/// Genuine and still waiting.
pub const NOT_ADMITTED: Kind = Kind {
    code: "NOT_ADMITTED",
    status: StatusCode::FORBIDDEN,
    title: "Still waiting in line",
};
/// No such room.
pub const ROOM_NOT_FOUND: Kind = Kind {
    code: "ROOM_NOT_FOUND",
    status: StatusCode::NOT_FOUND,
    title: "There is no such room",
};
/// The room takes no joins.
pub const ROOM_CLOSED: Kind = Kind {
    code: "ROOM_CLOSED",
    status: StatusCode::CONFLICT,
    title: "The room is closed",
};
/// The line is as long as it may be.
pub const ROOM_FULL: Kind = Kind {
    code: "ROOM_FULL",
    status: StatusCode::SERVICE_UNAVAILABLE,
    title: "The line is full",
};
/// The store is away.
pub const STORE_UNAVAILABLE: Kind = Kind {
    code: "STORE_UNAVAILABLE",
    status: StatusCode::SERVICE_UNAVAILABLE,
    title: "The waiting room cannot write at the moment",
};

/// Every kind that the gate answers with.
pub const CATALOGUE: [&Kind; 8] = [
    &TOKEN_INVALID,
    &TOKEN_EXPIRED,
    &TOKEN_NOT_FOUND,
    &NOT_ADMITTED,
    &ROOM_NOT_FOUND,
    &ROOM_CLOSED,
    &ROOM_FULL,
    &STORE_UNAVAILABLE,
];
