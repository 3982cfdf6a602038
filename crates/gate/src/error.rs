//! How a refusal looks to a client. Status codes appear here and among the kinds, and nowhere else.

use std::time::Duration;

use http::StatusCode;
use ropeline_core::RoomId;
use ropeline_web::Problem;

use crate::{
    GateError, Refusal, Waiting,
    kinds::{
        NOT_ADMITTED, ROOM_CLOSED, ROOM_FULL, ROOM_NOT_FOUND, STORE_UNAVAILABLE, TOKEN_EXPIRED,
        TOKEN_INVALID, TOKEN_NOT_FOUND,
    },
};

/// When to try again what found the line full.
const RETRY_FULL: Duration = Duration::from_secs(30);
/// When to try again while somebody has to change a setting.
const RETRY_MISCONFIGURED: Duration = Duration::from_secs(30);

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
        GateError::RoomClosed => Problem::new(&ROOM_CLOSED, "This room takes nobody new."),
        GateError::RoomFull => {
            let detail = "The line is as long as it may be. Try again later.";
            Problem::new(&ROOM_FULL, detail).retry_after(RETRY_FULL)
        }
        GateError::NoSuchRoom => Problem::new(&ROOM_NOT_FOUND, format!("There is no room {room}.")),
        GateError::Away(wait) => away(*wait),
        GateError::Misconfigured(_) => away(RETRY_MISCONFIGURED),
    }
}

fn away(retry_after: Duration) -> Problem {
    let detail = "The waiting room cannot be asked at the moment, and nobody is let in unasked.";
    Problem::new(&STORE_UNAVAILABLE, detail).retry_after(retry_after)
}
