//! What a queue token says.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::{Holder, Ordinal, RoomId, Timestamp, Visitor};

/// Version of the claims' format.
pub const FORMAT: u8 = 1;

/// The only lane there is so far.
pub const LANE_MAIN: &str = "main";

/// The claims of a queue token. Nothing in it is secret; nothing outside a valid signature is believed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claims {
    /// Who issued it: the deployment's name.
    pub iss: Cow<'static, str>,
    /// The room it is for.
    pub aud: RoomId,
    /// The room's creation time: a token of a room that was deleted and made again is void.
    pub epoch: Timestamp,
    /// Whose it is.
    pub sub: Visitor,
    /// The place.
    pub ord: Ordinal,
    /// The lane of the line.
    pub lane: Cow<'static, str>,
    /// Whether a login or a service vouches for the user id. Tokens say so exactly where [`sub`](Claims::sub) is
    /// [verified](Visitor::is_verified); those of earlier versions say it of `u:` too.
    pub vfd: bool,
    /// Version of this format.
    pub ver: u8,
    /// When the token was issued, in seconds.
    pub iat: u64,
    /// When it becomes void whatever its place does, in seconds.
    pub exp: u64,
}

impl Claims {
    /// The visitor and the place that the token names.
    pub fn holder(&self) -> Holder {
        Holder {
            visitor: self.sub.clone(),
            ordinal: self.ord,
        }
    }
}
