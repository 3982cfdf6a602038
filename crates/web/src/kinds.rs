//! Kinds of problem that several services answer with, each defined once so that a client meets the same code everywhere.

use http::StatusCode;

use crate::Kind;

/// The idempotency key belongs to another request.
pub const IDEMPOTENCY_KEY_REUSED: Kind = Kind {
    code: "IDEMPOTENCY_KEY_REUSED",
    status: StatusCode::UNPROCESSABLE_ENTITY,
    title: "The idempotency key was used for another request",
};
/// Too much from one address.
pub const RATE_LIMITED: Kind = Kind {
    code: "RATE_LIMITED",
    status: StatusCode::TOO_MANY_REQUESTS,
    title: "Too many requests from this address",
};
/// Only somebody with a login may do this.
pub const LOGIN_REQUIRED: Kind = Kind {
    code: "LOGIN_REQUIRED",
    status: StatusCode::UNAUTHORIZED,
    title: "A login is needed",
};
/// The login is malformed, forged, too old, or not for us.
pub const LOGIN_INVALID: Kind = Kind {
    code: "LOGIN_INVALID",
    status: StatusCode::UNAUTHORIZED,
    title: "The login is not valid",
};
/// A key of the operator's is missing or wrong.
pub const UNAUTHORIZED: Kind = Kind {
    code: "UNAUTHORIZED",
    status: StatusCode::UNAUTHORIZED,
    title: "The key is missing or wrong",
};
