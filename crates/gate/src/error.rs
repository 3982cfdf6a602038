//! How a refusal looks to a client. Status codes appear here and among the kinds, and nowhere else.

use std::time::Duration;

use http::StatusCode;
use ropeline_core::RoomId;
use ropeline_web::{Kind, Problem};

use crate::{
    GateError, Refusal, Waiting,
    kinds::{
        NOT_ADMITTED, ROOM_CLOSED, ROOM_FULL, ROOM_NOT_FOUND, STORE_UNAVAILABLE, TOKEN_EXPIRED,
        TOKEN_INVALID, TOKEN_NOT_FOUND,
    },
};

/// When to try again what found the line full.
pub const RETRY_FULL: Duration = Duration::from_secs(30);
/// When to try again while somebody has to change a setting.
const RETRY_MISCONFIGURED: Duration = Duration::from_secs(30);

impl GateError {
    /// The kind of problem that it is.
    pub fn kind(&self) -> &'static Kind {
        match self {
            Self::RoomClosed => &ROOM_CLOSED,
            Self::RoomFull => &ROOM_FULL,
            Self::NoSuchRoom => &ROOM_NOT_FOUND,
            Self::Away(_) | Self::Misconfigured(_) => &STORE_UNAVAILABLE,
        }
    }

    /// A problem of its kind, with these words and with when to try again.
    pub fn problem(&self, detail: impl Into<String>) -> Problem {
        let problem = Problem::new(self.kind(), detail);
        match self {
            Self::RoomClosed | Self::NoSuchRoom => problem,
            Self::RoomFull => problem.retry_after(RETRY_FULL),
            Self::Away(wait) => problem.retry_after(*wait),
            Self::Misconfigured(_) => problem.retry_after(RETRY_MISCONFIGURED),
        }
    }
}

/// A token that is good for nothing here; at a gate that is always 401.
pub(crate) fn refused(refusal: Refusal, join_at: &str) -> Problem {
    let (kind, detail) = match refusal {
        Refusal::Invalid => (
            &TOKEN_INVALID,
            "Join the line at the address in joinAt, and send the token that it gives you in X-Queue-Token.",
        ),
        Refusal::Expired => (
            &TOKEN_EXPIRED,
            "This pass ran out or was finished. Join again at the address in joinAt.",
        ),
        Refusal::Gone => (
            &TOKEN_NOT_FOUND,
            "This place was given up, revoked, or missed its turn for good. Join again at the address in joinAt.",
        ),
    };
    Problem::new(kind, detail)
        .status(StatusCode::UNAUTHORIZED)
        .with("joinAt", join_at)
}

/// Somebody who is still in line.
pub(crate) fn waiting(waiting: Waiting) -> Problem {
    let poll_after_ms = u64::try_from(waiting.poll_after.as_millis()).unwrap_or(u64::MAX);
    Problem::new(&NOT_ADMITTED, "It is not this visitor's turn yet.")
        .with("position", waiting.position)
        .with("pollAfterMs", poll_after_ms)
}

/// A room that did not answer as asked.
pub(crate) fn failed(error: &GateError, room: &RoomId) -> Problem {
    match error {
        GateError::RoomClosed => error.problem("This room takes nobody new."),
        GateError::RoomFull => error.problem("The line is as long as it may be. Try again later."),
        GateError::NoSuchRoom => error.problem(format!("There is no room {room}.")),
        GateError::Away(_) | GateError::Misconfigured(_) => error.problem(
            "The waiting room cannot be asked at the moment, and nobody is let in unasked.",
        ),
    }
}
