//! Login tokens of the site: JWTs that others signed, believed where one of the operator's keys says so.
//!
//! The key decides on the algorithm, never the token; what a token says about where its key is to be found
//! is not read. Times are compared with our clock.

mod jwks;
mod keys;
#[cfg(test)]
mod tests;

use std::time::Duration;

use jsonwebtoken::{decode, decode_header, errors::ErrorKind};
use ropeline_core::{Timestamp, UserId};
use serde::Deserialize;
use thiserror::Error;

pub use self::keys::LoginKeyError;
use self::keys::{Key, Keys};
use crate::{beside::SharedLogin, config::LoginSource};

/// Longer texts are not looked at; login tokens with many claims have about 2 KiB.
const LOGIN_BYTES_MAX: usize = 8 * 1_024;

/// A text that is not a login that we believe. Why is in the log at `debug`, without the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("not a valid login")]
pub(crate) struct InvalidLogin;

/// Verifies logins of one issuer.
#[derive(Debug)]
pub(crate) struct Logins {
    keys: Keys,
    issuer: String,
    leeway: Duration,
}

/// What a login must say; anything else in it is not read. A number with a fraction is no time here, and
/// an issuer is one text.
#[derive(Deserialize)]
struct LoginClaims {
    iss: String,
    sub: String,
    exp: u64,
    nbf: Option<u64>,
}

impl Logins {
    /// Reads the keys, or says what is wrong with them.
    pub(crate) fn open(source: &LoginSource, leeway: Duration) -> Result<Self, LoginKeyError> {
        Ok(Self {
            keys: Keys::read(&source.keys, &source.audience)?,
            issuer: source.issuer.clone(),
            leeway,
        })
    }

    /// Believes logins that a service of this process signs, by the same clock.
    pub(crate) fn shared(login: &SharedLogin) -> Self {
        Self {
            keys: Keys::shared(&login.secret, &login.audience),
            issuer: login.issuer.clone(),
            leeway: Duration::ZERO,
        }
    }

    /// Whose login this is at `now`, the time of day.
    pub(crate) fn verify(&self, token: &str, now: Timestamp) -> Result<UserId, InvalidLogin> {
        self.judge(token, now).map_err(|reason| {
            tracing::debug!(reason, "a login was refused");
            InvalidLogin
        })
    }

    fn judge(&self, token: &str, now: Timestamp) -> Result<UserId, &'static str> {
        if token.len() > LOGIN_BYTES_MAX {
            return Err("it is too long");
        }
        let header = decode_header(token).map_err(|error| reason(error.kind()))?;
        if header.crit.is_some() {
            return Err("it asks for an extension that we do not know");
        }
        let Key { key, rules } = self
            .keys
            .named(header.kid.as_deref())
            .ok_or("its kid names no key of ours")?;
        let claims = decode::<LoginClaims>(token, key, rules)
            .map_err(|error| reason(error.kind()))?
            .claims;
        if claims.iss != self.issuer {
            return Err("its issuer is another");
        }
        if now >= at_seconds(claims.exp) + self.leeway {
            return Err("it has expired");
        }
        let earliest = claims.nbf.map_or(Timestamp(0), at_seconds);
        if now + self.leeway < earliest {
            return Err("it is not valid yet");
        }
        UserId::parse_for_visitor(&claims.sub).map_err(|_| "its subject is no user id")
    }
}

/// Times beyond what can be told in milliseconds are the last one that can.
fn at_seconds(seconds: u64) -> Timestamp {
    Timestamp(seconds.saturating_mul(1_000))
}

/// In our own words, since the library's may repeat parts of the token.
fn reason(kind: &ErrorKind) -> &'static str {
    match kind {
        ErrorKind::InvalidSignature => "its signature does not hold",
        ErrorKind::InvalidAlgorithm => "its algorithm is not that of the key",
        ErrorKind::InvalidAudience => "its audience is another",
        ErrorKind::MissingRequiredClaim(_) => "exp, aud, iss or sub is missing",
        _ => "it is malformed",
    }
}
