//! Whom the gate and the service behind it ask about a room.

use std::{fmt, time::Duration};

use async_trait::async_trait;
use http::HeaderValue;
use ropeline_core::{Holder, RoomId, UserId};
use serde_json::Value;
use thiserror::Error;

/// Knows a waiting room's visitors.
///
/// What a caller may rely on: a call answers or fails, and changes nothing beyond what it says. An error never means that
/// somebody is inside. [`GateError::Away`] leaves open whether the call was done; all but a [`join`](Gatekeeper::join)
/// without a user may then be made again, any number of times. Dropping a call half-way is the same as `Away`.
///
/// A caller sets its own time limit ([`Gate`](crate::Gate) does), so an implementation need not hurry, but it holds nothing
/// that others wait for while it asks.
#[async_trait]
pub trait Gatekeeper: fmt::Debug + Send + Sync {
    /// Judges a queue token at the gate of a room, and renews the pass of one who is inside.
    async fn verify(&self, room: &RoomId, token: &str) -> Result<Decision, GateError>;

    /// Gives a user whose login the caller has verified a place in the room, or the one they have; without a user, a
    /// new place to somebody without a name.
    async fn join(&self, room: &RoomId, user: Option<&UserId>) -> Result<Ticket, GateError>;

    /// The holder has business inside that lasts so long from now, for which the pass is kept; with zero it is over.
    /// Nothing happens to who is not inside.
    async fn keep(
        &self,
        room: &RoomId,
        holder: &Holder,
        business: Duration,
    ) -> Result<(), GateError>;

    /// The holder's business inside is done. Done twice it is the same as once.
    async fn finish(&self, room: &RoomId, holder: &Holder) -> Result<(), GateError>;

    /// Whether joins are taken in the room now: it is there, and its store can write. For health checks: unlike the
    /// other calls it is not counted among the answers of the gate.
    async fn ready(&self, room: &RoomId) -> Result<(), GateError>;

    /// So much is left to sell, for those who wait to see; `None` if that is not told.
    async fn stock(&self, room: &RoomId, left: Option<u64>) -> Result<(), GateError>;
}

/// What the gate decides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// Inside: go on.
    Enter(Admitted),
    /// The room's store is away and its operator lets everybody through: go on, known or not.
    Unchecked(Option<Admitted>),
    /// Still in line.
    Wait(Waiting),
    /// The token is good for nothing here.
    Refuse(Refusal),
}

/// Somebody whom the gate let through; handlers find it among the request's extensions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Admitted {
    /// The room that let them in.
    pub room: RoomId,
    /// The visitor and the place that the pass came from.
    pub holder: Holder,
    /// Whether the visitor's user id came from a verified login.
    pub verified: bool,
    /// How much longer the pass lasts if it is not used again; `None` if the room could not tell.
    pub left: Option<Duration>,
}

impl Admitted {
    /// The user, if the visitor has a name.
    pub fn user_id(&self) -> Option<&str> {
        self.holder.visitor.user_id()
    }
}

/// Somebody in line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Waiting {
    /// From 1.
    pub position: u64,
    /// When to ask again.
    pub poll_after: Duration,
}

/// Why a token is good for nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Refusal {
    /// Malformed, forged, or another room's.
    Invalid,
    /// Was inside, is no longer.
    Expired,
    /// Its place is gone.
    Gone,
}

/// A place that somebody was given or has.
#[derive(Debug, Clone, PartialEq)]
pub struct Ticket {
    /// The place view as the room answers it, with `token`.
    pub view: Value,
    /// The `Set-Cookie` that gives the token to a browser on the room's own host.
    pub cookie: Option<HeaderValue>,
    /// Whether the place is inside.
    pub inside: bool,
}

/// Why the room did not answer as asked.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum GateError {
    /// The room takes no joins.
    #[error("the room is closed")]
    RoomClosed,
    /// The line is as long as it may be.
    #[error("the line is full")]
    RoomFull,
    /// There is no such room.
    #[error("there is no such room")]
    NoSuchRoom,
    /// The room, or its store, is away: what was asked for was not done, or that is not known. Try again after this long.
    #[error("the waiting room cannot be asked at the moment")]
    Away(Duration),
    /// The room did not believe this caller, or did not understand it: somebody has to change a setting.
    #[error("the waiting room refused the service: {0}")]
    Misconfigured(Box<str>),
}
