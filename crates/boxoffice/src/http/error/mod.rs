//! What can go wrong, and how it looks to a client. Status codes appear here and nowhere else.

mod kinds;

use axum::response::{IntoResponse, Response};
use http::StatusCode;
use ropeline_gate::{GateError, kinds as gate};
use ropeline_web::{
    IDEMPOTENCY_KEY_REUSED, INTERNAL, INVALID_REQUEST, IdempotencyKey, KeyRefused, Kind,
    LOGIN_INVALID, LOGIN_REQUIRED, Problem, RATE_LIMITED, RetryAfter, UNAUTHORIZED, retry_soon,
};

pub use self::kinds::{
    ALREADY_PAID, CATALOGUE, CONCERT_NOT_FOUND, DATE_NOT_FOUND, HOLD_COOLDOWN, HOLD_EXPIRED,
    HOLD_GIVEN_UP, HOLD_LIMIT, HOLD_RATE_LIMITED, INSUFFICIENT_POINTS, INVALID_AMOUNT,
    RESERVATION_NOT_FOUND, SEAT_NOT_FOUND, SEAT_TAKEN, TICKET_LIMIT, TOKEN_NOT_VERIFIED,
    USER_MISMATCH, USER_NOT_FOUND,
};
use crate::{Error, Refusal};

/// What a field for a time zone takes.
const ZONE_NAME: &str = "a name of the IANA database, such as Asia/Seoul";

/// Why a request was not done.
#[derive(Debug)]
pub(crate) enum ApiError {
    LoginRequired,
    LoginInvalid,
    UserMismatch,
    TokenNotVerified,
    Unauthorized,
    /// The key was compared with the operators', and refused.
    KeyRefused(KeyRefused),
    /// The address asks too often.
    RateLimited(RetryAfter),
    /// A rule forbids it.
    Refused(Refusal),
    /// A field of the body is not right.
    Field {
        name: &'static str,
        message: &'static str,
    },
    /// The request is not one that we understand.
    Request(Problem),
    /// The database did not do it.
    Office(Error),
    /// The room did not do it.
    Gate(GateError),
}

impl ApiError {
    /// What kind of problem it is.
    pub(crate) fn kind(&self) -> &'static Kind {
        match self {
            Self::LoginRequired => &LOGIN_REQUIRED,
            Self::LoginInvalid => &LOGIN_INVALID,
            Self::UserMismatch => &USER_MISMATCH,
            Self::TokenNotVerified => &TOKEN_NOT_VERIFIED,
            Self::Unauthorized | Self::KeyRefused(KeyRefused::Wrong) => &UNAUTHORIZED,
            Self::RateLimited(_) | Self::KeyRefused(KeyRefused::TooMany(_)) => &RATE_LIMITED,
            Self::Refused(refusal) => refused(*refusal),
            Self::Field { .. } => &INVALID_REQUEST,
            Self::Request(problem) => problem.kind(),
            Self::Office(error) if error.is_away() => &gate::STORE_UNAVAILABLE,
            Self::Office(_) => &INTERNAL,
            Self::Gate(error) => error.kind(),
        }
    }

    /// What a person is told to do about it.
    fn detail(&self) -> &'static str {
        match self {
            Self::LoginRequired => {
                "Make a user with POST /user, and send its accessToken as `Authorization: Bearer <token>`."
            }
            Self::LoginInvalid => {
                "The token behind `Authorization: Bearer` is not a login that is valid here now. Log in again."
            }
            Self::UserMismatch => "Only the user whom the login names may ask for this.",
            Self::TokenNotVerified => {
                "Get the queue token from /user/{userId}/token/generate, with a login, and reserve with that one."
            }
            Self::Unauthorized | Self::KeyRefused(KeyRefused::Wrong) => {
                "Send the admin key as `Authorization: Bearer <key>`."
            }
            Self::RateLimited(_) | Self::KeyRefused(KeyRefused::TooMany(_)) => {
                "This address asks too often. Try again after the time in Retry-After."
            }
            Self::Refused(refusal) => advice(*refusal),
            Self::Field { .. } => "A field is not right; see `errors`.",
            Self::Gate(GateError::RoomClosed) => "The waiting room takes nobody new.",
            Self::Gate(GateError::RoomFull) => "The line is as long as it may be. Try again later.",
            Self::Gate(GateError::NoSuchRoom) => "There is no waiting room before this box office.",
            Self::Gate(GateError::Away(_) | GateError::Misconfigured(_)) | Self::Office(_) => {
                "It was not accepted, or that is not known. Repeat with the same Idempotency-Key."
            }
            Self::Request(_) => "",
        }
    }
}

/// The kind of problem that a forbidden thing is.
fn refused(refusal: Refusal) -> &'static Kind {
    match refusal {
        Refusal::UserNotFound => &USER_NOT_FOUND,
        Refusal::ConcertNotFound => &CONCERT_NOT_FOUND,
        Refusal::DateNotFound => &DATE_NOT_FOUND,
        Refusal::SeatNotFound => &SEAT_NOT_FOUND,
        Refusal::ReservationNotFound => &RESERVATION_NOT_FOUND,
        Refusal::SeatTaken => &SEAT_TAKEN,
        Refusal::HoldLimit => &HOLD_LIMIT,
        Refusal::TicketLimit => &TICKET_LIMIT,
        Refusal::HoldCooldown { .. } => &HOLD_COOLDOWN,
        Refusal::HoldRateLimited { .. } => &HOLD_RATE_LIMITED,
        Refusal::HoldExpired => &HOLD_EXPIRED,
        Refusal::HoldGivenUp => &HOLD_GIVEN_UP,
        Refusal::AlreadyPaid => &ALREADY_PAID,
        Refusal::InsufficientPoints => &INSUFFICIENT_POINTS,
        Refusal::InvalidAmount => &INVALID_AMOUNT,
        Refusal::IdempotencyKeyReused => &IDEMPOTENCY_KEY_REUSED,
        Refusal::InvalidName | Refusal::InvalidZone | Refusal::InvalidSeats => &INVALID_REQUEST,
    }
}

fn advice(refusal: Refusal) -> &'static str {
    match refusal {
        Refusal::UserNotFound => "This user is not known here. Make one with POST /user.",
        Refusal::ConcertNotFound => "Make the concert first.",
        Refusal::DateNotFound => "See /concert/dates for the dates there are.",
        Refusal::SeatNotFound => "See /concert/{concertDateId}/seats for the seats there are.",
        Refusal::ReservationNotFound => "See /user/{userId}/reservations for those there are.",
        Refusal::SeatTaken => "Somebody holds this seat or has bought it. Choose another.",
        Refusal::HoldLimit => "Pay for a seat that you hold, or give one up.",
        Refusal::TicketLimit => {
            "You hold or have bought as many seats of this date as one user may. Give up a hold to choose another seat."
        }
        Refusal::HoldCooldown { .. } => {
            "Your hold on this seat ended without payment, and others have their chance first. Choose another seat, or \
             try again after Retry-After."
        }
        Refusal::HoldRateLimited { .. } => {
            "You have made as many holds as one user may within a minute. Try again after Retry-After."
        }
        Refusal::HoldExpired => {
            "The hold ran out, and it is too late to pay or somebody else has the seat. No points were taken. Choose a \
             seat again."
        }
        Refusal::HoldGivenUp => "This hold was given up. No points were taken.",
        Refusal::AlreadyPaid => "What is paid cannot be given up.",
        Refusal::InsufficientPoints => "Charge points, and pay while the hold lasts.",
        Refusal::InvalidAmount => {
            "An amount is a whole number from 1 to 100000000, and no balance exceeds 1000000000000."
        }
        Refusal::InvalidName => "A name has 1 to 100 characters.",
        Refusal::InvalidZone => "A time zone is a name of the IANA database, such as Asia/Seoul.",
        Refusal::InvalidSeats => "A date has at least one seat, and each number from 1 on once.",
        Refusal::IdempotencyKeyReused => {
            "Use a new Idempotency-Key for each request that is not a repetition."
        }
    }
}

impl From<Error> for ApiError {
    fn from(error: Error) -> Self {
        match error {
            Error::Refused(refusal) => Self::Refused(refusal),
            error => Self::Office(error),
        }
    }
}

impl From<Refusal> for ApiError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<RetryAfter> for ApiError {
    fn from(retry: RetryAfter) -> Self {
        Self::RateLimited(retry)
    }
}

impl From<KeyRefused> for ApiError {
    fn from(refused: KeyRefused) -> Self {
        Self::KeyRefused(refused)
    }
}

impl From<GateError> for ApiError {
    fn from(error: GateError) -> Self {
        Self::Gate(error)
    }
}

impl From<Problem> for ApiError {
    fn from(problem: Problem) -> Self {
        Self::Request(problem)
    }
}

impl From<ApiError> for Problem {
    fn from(error: ApiError) -> Self {
        let detail = error.detail();
        let problem = Self::new(error.kind(), detail);
        match error {
            ApiError::Request(problem) => problem,
            ApiError::RateLimited(RetryAfter(wait))
            | ApiError::KeyRefused(KeyRefused::TooMany(RetryAfter(wait))) => {
                problem.retry_after(wait)
            }
            ApiError::Refused(refusal) => with_particulars(problem, refusal),
            ApiError::Field { name, message } => problem
                .status(StatusCode::UNPROCESSABLE_ENTITY)
                .error(name, message),
            ApiError::Office(error) => not_done(problem, &error),
            ApiError::Gate(error) => {
                if let GateError::Misconfigured(reason) = &error {
                    tracing::error!(%reason, "the waiting room does not believe the box office");
                }
                error.problem(detail)
            }
            _ => problem,
        }
    }
}

/// Which field is wrong, or how long to wait.
fn with_particulars(problem: Problem, refusal: Refusal) -> Problem {
    let unprocessable = StatusCode::UNPROCESSABLE_ENTITY;
    match refusal {
        Refusal::InvalidAmount => problem.error("amount", "a whole number in range"),
        Refusal::InvalidName => problem
            .status(unprocessable)
            .error("name", "1 to 100 characters"),
        Refusal::InvalidZone => problem.status(unprocessable).error("timeZone", ZONE_NAME),
        Refusal::InvalidSeats => problem
            .status(unprocessable)
            .error("seats", "each number once"),
        Refusal::IdempotencyKeyReused => {
            problem.error(IdempotencyKey::NAME, "belongs to another request")
        }
        Refusal::HoldCooldown { left } | Refusal::HoldRateLimited { left } => {
            problem.retry_after(left)
        }
        _ => problem,
    }
}

fn not_done(problem: Problem, error: &Error) -> Problem {
    if error.is_away() {
        // The workers have said so once, loudly; a crowd that tries again must not fill the log.
        tracing::debug!(
            error = error as &dyn std::error::Error,
            "the database is away"
        );
        return problem.retry_after(retry_soon());
    }
    tracing::error!(
        error = error as &dyn std::error::Error,
        "the database did not carry out a request"
    );
    Problem::internal()
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let refused = match &self {
            Self::KeyRefused(refused) => Some(*refused),
            _ => None,
        };
        let mut response = Problem::from(self).into_response();
        if let Some(refused) = refused {
            // The audit log tells wrong keys by it.
            response.extensions_mut().insert(refused);
        }
        response
    }
}
