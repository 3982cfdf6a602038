//! The catalogue: every kind of problem that only this service answers with.

use http::StatusCode;
use ropeline_web::{IDEMPOTENCY_KEY_REUSED, Kind};

/// The path names another user than the login.
pub const USER_MISMATCH: Kind = Kind {
    code: "USER_MISMATCH",
    status: StatusCode::FORBIDDEN,
    title: "The login is another user's",
};
/// The visitor is inside, and nobody vouches for who they are.
pub const TOKEN_NOT_VERIFIED: Kind = Kind {
    code: "TOKEN_NOT_VERIFIED",
    status: StatusCode::FORBIDDEN,
    title: "The queue token does not come from a login",
};
/// No such user.
pub const USER_NOT_FOUND: Kind = Kind {
    code: "USER_NOT_FOUND",
    status: StatusCode::NOT_FOUND,
    title: "There is no such user",
};
/// No such concert.
pub const CONCERT_NOT_FOUND: Kind = Kind {
    code: "CONCERT_NOT_FOUND",
    status: StatusCode::NOT_FOUND,
    title: "There is no such concert",
};
/// No such date.
pub const DATE_NOT_FOUND: Kind = Kind {
    code: "DATE_NOT_FOUND",
    status: StatusCode::NOT_FOUND,
    title: "There is no such date",
};
/// No such seat.
pub const SEAT_NOT_FOUND: Kind = Kind {
    code: "SEAT_NOT_FOUND",
    status: StatusCode::NOT_FOUND,
    title: "There is no such seat",
};
/// No such reservation, or another's.
pub const RESERVATION_NOT_FOUND: Kind = Kind {
    code: "RESERVATION_NOT_FOUND",
    status: StatusCode::NOT_FOUND,
    title: "There is no such reservation",
};
/// Somebody else was faster.
pub const SEAT_TAKEN: Kind = Kind {
    code: "SEAT_TAKEN",
    status: StatusCode::CONFLICT,
    title: "The seat is taken",
};
/// As many seats are held as one user may.
pub const HOLD_LIMIT: Kind = Kind {
    code: "HOLD_LIMIT",
    status: StatusCode::CONFLICT,
    title: "No more seats can be held at once",
};
/// As many seats of the date as one user may have.
pub const TICKET_LIMIT: Kind = Kind {
    code: "TICKET_LIMIT",
    status: StatusCode::CONFLICT,
    title: "No more seats of this date can be held or bought",
};
/// The user's own hold on the seat ended without payment a short while ago.
pub const HOLD_COOLDOWN: Kind = Kind {
    code: "HOLD_COOLDOWN",
    status: StatusCode::CONFLICT,
    title: "The seat cannot be held again yet",
};
/// As many holds within a minute as one user may make.
pub const HOLD_RATE_LIMITED: Kind = Kind {
    code: "HOLD_RATE_LIMITED",
    status: StatusCode::TOO_MANY_REQUESTS,
    title: "Too many holds within a minute",
};
/// The hold ran out, and the time to pay late is over or the seat went to somebody else.
pub const HOLD_EXPIRED: Kind = Kind {
    code: "HOLD_EXPIRED",
    status: StatusCode::CONFLICT,
    title: "The hold has expired",
};
/// The holder gave it up.
pub const HOLD_GIVEN_UP: Kind = Kind {
    code: "HOLD_GIVEN_UP",
    status: StatusCode::CONFLICT,
    title: "The hold was given up",
};
/// What is paid stays.
pub const ALREADY_PAID: Kind = Kind {
    code: "ALREADY_PAID",
    status: StatusCode::CONFLICT,
    title: "The reservation is paid",
};
/// The balance is below the price.
pub const INSUFFICIENT_POINTS: Kind = Kind {
    code: "INSUFFICIENT_POINTS",
    status: StatusCode::CONFLICT,
    title: "There are not enough points",
};
/// Not a whole number of points in range.
pub const INVALID_AMOUNT: Kind = Kind {
    code: "INVALID_AMOUNT",
    status: StatusCode::UNPROCESSABLE_ENTITY,
    title: "The amount is not a whole number in range",
};

/// Every kind that this service answers with, beside those it shares with the room, the gate and the web crate.
pub const CATALOGUE: [&Kind; 18] = [
    &USER_MISMATCH,
    &TOKEN_NOT_VERIFIED,
    &USER_NOT_FOUND,
    &CONCERT_NOT_FOUND,
    &DATE_NOT_FOUND,
    &SEAT_NOT_FOUND,
    &RESERVATION_NOT_FOUND,
    &SEAT_TAKEN,
    &HOLD_LIMIT,
    &TICKET_LIMIT,
    &HOLD_COOLDOWN,
    &HOLD_RATE_LIMITED,
    &HOLD_EXPIRED,
    &HOLD_GIVEN_UP,
    &ALREADY_PAID,
    &INSUFFICIENT_POINTS,
    &INVALID_AMOUNT,
    &IDEMPOTENCY_KEY_REUSED,
];
