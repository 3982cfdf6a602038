//! Queue tokens: signed by us, believed only where the signature holds.
//!
//! A compact JWS with HS256. The header segment is not parsed but compared with those that we would write
//! ourselves, which pins algorithm, type and key at once; then the MAC is checked, then the claims are read.
//! There is nothing else in a token that could be got wrong.

mod claims;
mod keys;

use std::ops::Range;

use base64_simd::{Out, URL_SAFE_NO_PAD as BASE64};
use hmac::{Hmac, KeyInit, Mac};
use ropeline_core::{Claims, FORMAT, Holder, LANE_MAIN, RoomId, Timestamp, Visitor};
use sha2::Sha256;
use subtle::ConstantTimeEq;
use thiserror::Error;

pub use keys::{KeyError, KeyFile};
pub(crate) use keys::{lock_keys, random, write_secret};

/// Longer texts are not looked at; a real token has about 400 bytes.
const TOKEN_BYTES_MAX: usize = 2_048;
/// Four characters of a token make three bytes, and the last few of them, or fewer, as many as three.
const CLAIMS_BYTES_MAX: usize = TOKEN_BYTES_MAX / 4 * 3 + 3;
/// A MAC has 32 bytes.
const SIGNATURE_CHARS: usize = 43;
/// Who issues our tokens.
pub const ISSUER: &str = "ropeline";

/// What the token of a place says, which is good for these seconds of the day. Whether it is verified follows from the
/// visitor alone.
pub(crate) fn claims_for(
    room: RoomId,
    epoch: Timestamp,
    holder: Holder,
    seconds: Range<u64>,
) -> Claims {
    Claims {
        iss: ISSUER.into(),
        aud: room,
        epoch,
        vfd: holder.visitor.is_verified(),
        sub: holder.visitor,
        ord: holder.ordinal,
        lane: LANE_MAIN.into(),
        ver: FORMAT,
        iat: seconds.start,
        exp: seconds.end,
    }
}

/// A text that is not one of our tokens, or no longer. Why is nobody's business.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("not a valid queue token")]
pub struct InvalidToken;

/// The keys in use: the first signs, all verify.
#[derive(Debug)]
pub struct KeyRing {
    keys: Vec<Key>,
    visitor_secret: Hmac<Sha256>,
}

/// A key with what can be computed beforehand.
struct Key {
    /// The header segment of every token signed with this key.
    header: String,
    /// The MAC with the key already taken in.
    mac: Hmac<Sha256>,
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Key")
            .field("header", &self.header)
            .finish_non_exhaustive()
    }
}

impl Key {
    fn new(kid: &str, secret: &[u8]) -> Self {
        let header = format!(r#"{{"alg":"HS256","kid":"{kid}","typ":"rl+jwt"}}"#);
        Self {
            header: BASE64.encode_to_string(header),
            mac: mac_with(secret),
        }
    }

    /// The signature segment of a token whose others are these.
    fn signature(&self, signed: &str) -> [u8; SIGNATURE_CHARS] {
        let mac = self.mac.clone().chain_update(signed).finalize();
        let mut signature = [0; SIGNATURE_CHARS];
        let written = BASE64.encode(&mac.into_bytes(), Out::from_slice(&mut signature));
        debug_assert_eq!(written.len(), SIGNATURE_CHARS);
        signature
    }
}

impl KeyRing {
    /// A token that says this, signed with the newest key.
    pub fn sign(&self, claims: &Claims) -> String {
        let key = &self.keys[0];
        let claims = claims::write(claims);
        let mut token = String::with_capacity(512);
        token.push_str(&key.header);
        token.push('.');
        BASE64.encode_append(claims, &mut token);
        let signature = key.signature(&token);
        token.push('.');
        token.push_str(str::from_utf8(&signature).expect("base64 is ASCII"));
        token
    }

    /// The header of every token that is signed now.
    pub(crate) fn signing_header(&self) -> &str {
        &self.keys[0].header
    }

    /// The claims of a token that we signed and that is still valid at `now`, the time of day.
    pub fn verify(&self, token: &str, now: Timestamp) -> Result<Claims, InvalidToken> {
        if token.len() > TOKEN_BYTES_MAX {
            return Err(InvalidToken);
        }
        let (signed, signature) = split_signature(token).ok_or(InvalidToken)?;
        let by_header = |key| Some((key, payload_under(key, signed)?));
        let signed_by = self.keys.iter().find_map(by_header);
        let (key, payload) = signed_by.ok_or(InvalidToken)?;
        // As text, so that there is one way only to write a signature.
        let genuine = key.signature(signed).ct_eq(signature.as_bytes());
        if !bool::from(genuine) {
            return Err(InvalidToken);
        }
        let claims = claims_of(payload)?;
        let ours = claims.iss == ISSUER && claims.ver == FORMAT && claims.lane == LANE_MAIN;
        if !ours || claims.exp <= now.0 / 1_000 {
            return Err(InvalidToken);
        }
        Ok(claims)
    }

    /// The anonymous visitor that an idempotency key stands for in a room: the same key, the same visitor.
    pub(crate) fn visitor_of_key(&self, room: &str, key: &str) -> Visitor {
        // A room id has no line feed, so no two pairs make the same text.
        let mac = self
            .visitor_secret
            .clone()
            .chain_update(room)
            .chain_update("\n");
        let bytes = mac.chain_update(key).finalize().into_bytes();
        let (id, _) = bytes.split_first_chunk().expect("a MAC has 32 bytes");
        Visitor::anonymous(u128::from_be_bytes(*id))
    }
}

/// What is signed, and the signature.
fn split_signature(token: &str) -> Option<(&str, &str)> {
    let end = token.len().checked_sub(SIGNATURE_CHARS + 1)?;
    let (signed, signature) = token.split_at_checked(end)?;
    Some((signed, signature.strip_prefix('.')?))
}

/// The claims segment, if the one before it is the header of this key.
fn payload_under<'a>(key: &Key, signed: &'a str) -> Option<&'a str> {
    signed.strip_prefix(&key.header)?.strip_prefix('.')
}

fn claims_of(payload: &str) -> Result<Claims, InvalidToken> {
    let mut bytes = [0; CLAIMS_BYTES_MAX];
    let decoded = BASE64.decode(payload.as_bytes(), Out::from_slice(&mut bytes));
    claims::read(decoded.map_err(|_| InvalidToken)?)
}

fn mac_with(secret: &[u8]) -> Hmac<Sha256> {
    Hmac::new_from_slice(secret).expect("HMAC takes keys of any length")
}

#[cfg(test)]
mod tests;
