//! What can go wrong, and how it looks to a client. Status codes appear here and nowhere else.

mod kinds;

use std::{borrow::Cow, time::Duration};

use axum::response::{IntoResponse, Response};
use http::StatusCode;
use ropeline_core::{Ending, FieldError, Reason, RoomId};
use ropeline_gate::RETRY_FULL;
use ropeline_store::StoreError;
use ropeline_web::{
    INVALID_REQUEST, InvalidIdempotencyKey, KeyRefused, Kind, Problem, RetryAfter, retry_soon,
};

pub use self::kinds::{
    CATALOGUE, DUPLICATED_TOKEN, LOGIN_INVALID, LOGIN_REQUIRED, NOT_ADMITTED, RATE_LIMITED,
    ROOM_CLOSED, ROOM_EXISTS, ROOM_FULL, ROOM_NOT_FOUND, ROOM_REQUIRED, SESSION_NOT_FOUND,
    STORE_UNAVAILABLE, TOKEN_EXPIRED, TOKEN_INVALID, TOKEN_NOT_FOUND, UNAUTHORIZED,
    VISITOR_NOT_FOUND,
};

/// Why a request was not done.
#[derive(Debug)]
pub(crate) enum ApiError {
    TokenInvalid,
    /// The place has ended, and why, if that is known.
    TokenEnded(Ending, Option<Reason>),
    NotAdmitted {
        position: u64,
        poll_after_ms: u64,
    },
    Duplicated,
    NoSuchRoom(RoomId),
    RoomClosed,
    RoomFull,
    Unauthorized,
    RoomExists,
    RoomRequired,
    NoSuchVisitor,
    NoSuchSession,
    Policy(Vec<FieldError>),
    RateLimited(Duration),
    LoginRequired,
    LoginInvalid,
    Field {
        field: &'static str,
        message: String,
    },
    IdempotencyKey(InvalidIdempotencyKey),
    Store(StoreError),
}

impl ApiError {
    /// What kind of problem it is.
    pub(crate) fn kind(&self) -> &'static Kind {
        match self {
            Self::TokenInvalid => &TOKEN_INVALID,
            Self::TokenEnded(Ending::Done, _) => &TOKEN_EXPIRED,
            Self::TokenEnded(Ending::Gone, _) => &TOKEN_NOT_FOUND,
            Self::NotAdmitted { .. } => &NOT_ADMITTED,
            Self::Duplicated => &DUPLICATED_TOKEN,
            Self::NoSuchRoom(_) => &ROOM_NOT_FOUND,
            Self::RoomClosed => &ROOM_CLOSED,
            Self::RoomFull => &ROOM_FULL,
            Self::Unauthorized => &UNAUTHORIZED,
            Self::RoomExists => &ROOM_EXISTS,
            Self::RoomRequired => &ROOM_REQUIRED,
            Self::NoSuchVisitor => &VISITOR_NOT_FOUND,
            Self::NoSuchSession => &SESSION_NOT_FOUND,
            Self::RateLimited(_) => &RATE_LIMITED,
            Self::LoginRequired => &LOGIN_REQUIRED,
            Self::LoginInvalid => &LOGIN_INVALID,
            Self::Policy(_) | Self::Field { .. } | Self::IdempotencyKey(_) => &INVALID_REQUEST,
            Self::Store(_) => &STORE_UNAVAILABLE,
        }
    }

    /// As answered at the gate, where proxies understand only 401 and 403.
    pub(crate) fn at_gate(self) -> Problem {
        match self {
            Self::TokenEnded(Ending::Gone, _) | Self::NoSuchRoom(_) => {
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

impl From<InvalidIdempotencyKey> for ApiError {
    fn from(invalid: InvalidIdempotencyKey) -> Self {
        Self::IdempotencyKey(invalid)
    }
}

impl From<RetryAfter> for ApiError {
    fn from(RetryAfter(wait): RetryAfter) -> Self {
        Self::RateLimited(wait)
    }
}

impl From<KeyRefused> for ApiError {
    fn from(refused: KeyRefused) -> Self {
        match refused {
            KeyRefused::Wrong => Self::Unauthorized,
            KeyRefused::TooMany(retry) => retry.into(),
        }
    }
}

impl ApiError {
    /// What a person is told to do about it.
    pub(crate) fn detail(&self) -> Cow<'static, str> {
        let text = match self {
            Self::TokenInvalid => {
                "Send the token that joining gave you in X-Queue-Token, or join again."
            }
            Self::TokenEnded(ending, reason) => ended(*ending, *reason),
            Self::NotAdmitted { .. } => "It is not this visitor's turn yet.",
            Self::Duplicated => "Send the queue token of that place to go on with it.",
            Self::NoSuchRoom(room) => return format!("There is no room {room}.").into(),
            Self::RoomClosed => "This room takes nobody new.",
            Self::RoomFull => "The line is as long as it may be. Try again later.",
            Self::Unauthorized => {
                "Send the admin key, or to the service API the service key, as `Authorization: Bearer <key>`."
            }
            Self::LoginRequired => {
                "Log in at the site, and send its login token as `Authorization: Bearer <token>`."
            }
            Self::LoginInvalid => {
                "The token behind `Authorization: Bearer` is not a login that is valid here now. Log in again."
            }
            Self::RoomExists => "Change it with PATCH, or delete it first to begin again.",
            Self::RoomRequired => "The room main cannot be deleted. Close or reset it instead.",
            Self::NoSuchVisitor => "Nobody with this user id waits or is inside.",
            Self::NoSuchSession => {
                "It was ended, or never opened. List the sessions that are open."
            }
            Self::RateLimited(_) => {
                "This address asks too often. Try again after the time in Retry-After."
            }
            Self::Policy(_) => "The policy does not make sense; see `errors`.",
            Self::Field { field, message } => {
                return format!("`{field}` is not right: {message}.").into();
            }
            Self::IdempotencyKey(invalid) => return invalid.to_string().into(),
            Self::Store(_) => {
                "It was not accepted, or that is not known. Repeat with the same Idempotency-Key."
            }
        };
        text.into()
    }
}

/// How a place ended, as a person is told.
fn ended(ending: Ending, reason: Option<Reason>) -> &'static str {
    match (reason, ending) {
        (Some(Reason::Left), _) => "This place was given up. Join again for a new one.",
        (Some(Reason::Removed), _) => "An operator removed this place. Join again for a new one.",
        (Some(Reason::Reset), _) => "An operator emptied the room. Join again for a new place.",
        (Some(Reason::Missed), _) => {
            "The turn passed while nobody asked, for longer than it was kept. Join again for a new place."
        }
        (Some(Reason::Finished), _) => "This pass was finished. Join again for a new place.",
        (Some(Reason::Expired), _) => "This pass ran out. Join again for a new place.",
        (None, Ending::Done) => "This pass has ended. Join again for a new place.",
        (None, Ending::Gone) => "This place has ended. Join again for a new one.",
    }
}

impl From<ApiError> for Problem {
    fn from(error: ApiError) -> Self {
        let problem = Self::new(error.kind(), error.detail());
        match error {
            ApiError::TokenEnded(_, Some(reason)) => problem.with("reason", reason.as_str()),
            ApiError::NotAdmitted {
                position,
                poll_after_ms,
            } => problem
                .with("position", position)
                .with("pollAfterMs", poll_after_ms),
            ApiError::RoomFull => problem.retry_after(RETRY_FULL),
            ApiError::RateLimited(wait) => problem.retry_after(wait),
            ApiError::Policy(errors) => {
                let problem = problem.status(StatusCode::UNPROCESSABLE_ENTITY);
                errors.into_iter().fold(problem, |problem, error| {
                    let field = format!("policy.{}", camel_case(error.field));
                    problem.error(field, error.message)
                })
            }
            ApiError::Field { field, message } => problem
                .status(StatusCode::UNPROCESSABLE_ENTITY)
                .error(field, message),
            ApiError::IdempotencyKey(invalid) => invalid.into(),
            ApiError::Store(error) => {
                // The store has said so once, loudly; a crowd that tries again must not fill the log.
                tracing::debug!(%error, "a request was refused because the store cannot write");
                problem.retry_after(retry_soon())
            }
            _ => problem,
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
        Problem::from(self).into_response()
    }
}
