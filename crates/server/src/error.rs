//! What can go wrong, and how it looks to a client. Status codes appear here and nowhere else.

use std::time::Duration;

use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header::WWW_AUTHENTICATE};
use ropeline_core::{Ending, FieldError, RoomId};
use ropeline_store::StoreError;
use ropeline_web::{INVALID_REQUEST, Kind, Problem};

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
/// The user has a place, and nothing shows that the caller may have it.
pub const DUPLICATED_TOKEN: Kind = Kind {
    code: "DUPLICATED_TOKEN",
    status: StatusCode::CONFLICT,
    title: "This user has a place already",
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
/// The idempotency key belongs to another request.
pub const IDEMPOTENCY_KEY_REUSED: Kind = Kind {
    code: "IDEMPOTENCY_KEY_REUSED",
    status: StatusCode::UNPROCESSABLE_ENTITY,
    title: "The idempotency key was used for another request",
};
/// The operator's key is missing or wrong.
pub const UNAUTHORIZED: Kind = Kind {
    code: "UNAUTHORIZED",
    status: StatusCode::UNAUTHORIZED,
    title: "The admin key is missing or wrong",
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
/// Too much from one address.
pub const RATE_LIMITED: Kind = Kind {
    code: "RATE_LIMITED",
    status: StatusCode::TOO_MANY_REQUESTS,
    title: "Too many requests from this address",
};
/// The room takes only visitors with a login.
pub const LOGIN_REQUIRED: Kind = Kind {
    code: "LOGIN_REQUIRED",
    status: StatusCode::UNAUTHORIZED,
    title: "This room needs a login",
};
/// The login is malformed, forged, too old, or not for us.
pub const LOGIN_INVALID: Kind = Kind {
    code: "LOGIN_INVALID",
    status: StatusCode::UNAUTHORIZED,
    title: "The login is not valid",
};

/// Every kind that this service answers with, beside those of the web crate.
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
    &IDEMPOTENCY_KEY_REUSED,
    &UNAUTHORIZED,
    &ROOM_EXISTS,
    &ROOM_REQUIRED,
    &VISITOR_NOT_FOUND,
    &RATE_LIMITED,
    &LOGIN_REQUIRED,
    &LOGIN_INVALID,
];

/// When to try a join again that the store could not take.
const RETRY_STORE: Duration = Duration::from_secs(2);
/// When to try a join again that found the line full.
const RETRY_FULL: Duration = Duration::from_secs(30);

/// Why a request was not done.
#[derive(Debug)]
pub(crate) enum ApiError {
    TokenInvalid,
    TokenEnded(Ending),
    NotAdmitted {
        position: u64,
        poll_after_ms: u64,
    },
    Duplicated,
    NoSuchRoom(RoomId),
    RoomClosed,
    RoomFull,
    KeyReused,
    Unauthorized,
    RoomExists,
    RoomRequired,
    NoSuchVisitor,
    Policy(Vec<FieldError>),
    RateLimited(Duration),
    LoginRequired,
    LoginInvalid,
    Field {
        field: &'static str,
        message: String,
    },
    Header {
        name: &'static str,
        message: &'static str,
    },
    Store(StoreError),
}

impl ApiError {
    /// What kind of problem it is.
    pub(crate) fn kind(&self) -> &'static Kind {
        match self {
            Self::TokenInvalid => &TOKEN_INVALID,
            Self::TokenEnded(Ending::Done) => &TOKEN_EXPIRED,
            Self::TokenEnded(Ending::Gone) => &TOKEN_NOT_FOUND,
            Self::NotAdmitted { .. } => &NOT_ADMITTED,
            Self::Duplicated => &DUPLICATED_TOKEN,
            Self::NoSuchRoom(_) => &ROOM_NOT_FOUND,
            Self::RoomClosed => &ROOM_CLOSED,
            Self::RoomFull => &ROOM_FULL,
            Self::KeyReused => &IDEMPOTENCY_KEY_REUSED,
            Self::Unauthorized => &UNAUTHORIZED,
            Self::RoomExists => &ROOM_EXISTS,
            Self::RoomRequired => &ROOM_REQUIRED,
            Self::NoSuchVisitor => &VISITOR_NOT_FOUND,
            Self::RateLimited(_) => &RATE_LIMITED,
            Self::LoginRequired => &LOGIN_REQUIRED,
            Self::LoginInvalid => &LOGIN_INVALID,
            Self::Policy(_) | Self::Field { .. } | Self::Header { .. } => &INVALID_REQUEST,
            Self::Store(_) => &STORE_UNAVAILABLE,
        }
    }

    /// As answered at the gate, where proxies understand only 401 and 403.
    pub(crate) fn at_gate(self) -> Problem {
        match self {
            Self::TokenEnded(Ending::Gone) | Self::NoSuchRoom(_) => {
                Problem::from(self).status(StatusCode::UNAUTHORIZED)
            }
            error => error.into(),
        }
    }
}

impl From<FieldError> for ApiError {
    fn from(error: FieldError) -> Self {
        Self::Policy(vec![error])
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::NoSuchRoom(room) => Self::NoSuchRoom(room),
            error => Self::Store(error),
        }
    }
}

impl From<ApiError> for Problem {
    fn from(error: ApiError) -> Self {
        match error {
            ApiError::TokenInvalid => Self::new(
                &TOKEN_INVALID,
                "Send the token that joining gave you in X-Queue-Token, or join again.",
            ),
            ApiError::TokenEnded(Ending::Done) => Self::new(
                &TOKEN_EXPIRED,
                "This pass ran out or was finished. Join again for a new place.",
            ),
            ApiError::TokenEnded(Ending::Gone) => Self::new(
                &TOKEN_NOT_FOUND,
                "This place was given up, revoked, or missed its turn for good. Join again for a new one.",
            ),
            ApiError::NotAdmitted {
                position,
                poll_after_ms,
            } => Self::new(&NOT_ADMITTED, "It is not this visitor's turn yet.")
                .with("position", position)
                .with("pollAfterMs", poll_after_ms),
            ApiError::Duplicated => Self::new(
                &DUPLICATED_TOKEN,
                "Send the queue token of that place, or a login where they are verified, to go on with it.",
            ),
            ApiError::NoSuchRoom(room) => {
                Self::new(&ROOM_NOT_FOUND, format!("There is no room {room}."))
            }
            ApiError::RoomClosed => Self::new(&ROOM_CLOSED, "This room takes nobody new."),
            ApiError::RoomFull => Self::new(
                &ROOM_FULL,
                "The line is as long as it may be. Try again later.",
            )
            .retry_after(RETRY_FULL),
            ApiError::KeyReused => Self::new(
                &IDEMPOTENCY_KEY_REUSED,
                "Use a new Idempotency-Key for each request that is not a repetition.",
            )
            .error("Idempotency-Key", "belongs to a request with another body"),
            ApiError::Unauthorized => Self::new(
                &UNAUTHORIZED,
                "Send the admin key as `Authorization: Bearer <key>`.",
            ),
            ApiError::RoomExists => Self::new(
                &ROOM_EXISTS,
                "Change it with PATCH, or delete it first to begin again.",
            ),
            ApiError::RoomRequired => Self::new(
                &ROOM_REQUIRED,
                "The room main cannot be deleted. Close or reset it instead.",
            ),
            ApiError::NoSuchVisitor => Self::new(
                &VISITOR_NOT_FOUND,
                "Nobody with this user id waits or is inside.",
            ),
            ApiError::Policy(errors) => {
                let detail = "The policy does not make sense; see `errors`.";
                let problem = Self::invalid(StatusCode::UNPROCESSABLE_ENTITY, detail);
                errors.into_iter().fold(problem, |problem, error| {
                    let field = format!("policy.{}", camel_case(error.field));
                    problem.error(field, error.message)
                })
            }
            ApiError::RateLimited(wait) => Self::new(
                &RATE_LIMITED,
                "This address asks too often. Try again after the time in Retry-After.",
            )
            .retry_after(wait),
            ApiError::LoginRequired => Self::new(
                &LOGIN_REQUIRED,
                "Log in at the site, and send its login token as `Authorization: Bearer <token>`.",
            ),
            ApiError::LoginInvalid => Self::new(
                &LOGIN_INVALID,
                "The token behind `Authorization: Bearer` is not a login that is valid here now. Log in again.",
            ),
            ApiError::Field { field, message } => {
                let detail = format!("`{field}` is not right: {message}.");
                Self::invalid(StatusCode::UNPROCESSABLE_ENTITY, detail).error(field, message)
            }
            ApiError::Header { name, message } => {
                let detail = format!("The header {name} is not right: {message}.");
                Self::invalid(StatusCode::BAD_REQUEST, detail).error(name, message)
            }
            ApiError::Store(error) => {
                // The store has said so once, loudly; a crowd that tries again must not fill the log.
                tracing::debug!(%error, "a request was refused because the store cannot write");
                let detail = "It was not accepted, or that is not known. Repeat with the same Idempotency-Key.";
                Self::new(&STORE_UNAVAILABLE, detail).retry_after(RETRY_STORE)
            }
        }
    }
}

/// A setting's name as it is in JSON: `active_max` is `activeMax`.
fn camel_case(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |text, word| {
        let (initial, rest) = word.split_at(word.len().min(1));
        text + &initial.to_ascii_uppercase() + rest
    })
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let challenge = matches!(
            self,
            Self::Unauthorized | Self::LoginRequired | Self::LoginInvalid
        );
        let mut response = Problem::from(self).into_response();
        if challenge {
            response
                .headers_mut()
                .insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}
