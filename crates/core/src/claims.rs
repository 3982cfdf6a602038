//! What a queue token says.

use serde::{Deserialize, Serialize};

use crate::{Ordinal, RoomId, Timestamp};

/// Version of the claims' format.
pub const FORMAT: u8 = 1;

/// The only lane there is so far.
pub const LANE_MAIN: &str = "main";

/// The claims of a queue token. Nothing in it is secret; nothing outside a valid signature is believed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claims {
    /// Who issued it: the deployment's name.
    pub iss: String,
    /// The room it is for.
    pub aud: RoomId,
    /// The room's creation time: a token of a room that was deleted and made again is void.
    pub epoch: Timestamp,
    /// The visitor, as in [`Visitor::as_str`](crate::Visitor::as_str).
    pub sub: String,
    /// The place.
    pub ord: Ordinal,
    /// The lane of the line.
    pub lane: String,
    /// Whether the user id came from a verified login.
    pub vfd: bool,
    /// Version of this format.
    pub ver: u8,
    /// When the token was issued, in seconds.
    pub iat: u64,
    /// When it becomes void whatever its place does, in seconds.
    pub exp: u64,
}
