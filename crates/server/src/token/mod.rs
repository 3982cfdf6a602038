//! Queue tokens: signed by us, believed only where the signature holds.
//!
//! A compact JWS with HS256. The header segment is not parsed but compared with those that we would write
//! ourselves, which pins algorithm, type and key at once; then the MAC is checked, then the claims are read.
//! There is nothing else in a token that could be got wrong.

mod claims;
mod keys;

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD as BASE64};
use hmac::{Hmac, KeyInit, Mac};
use ropeline_core::{Claims, FORMAT, LANE_MAIN, Timestamp, Visitor};
use sha2::Sha256;
use thiserror::Error;

pub use keys::{KeyError, KeyFile};
pub(crate) use keys::{lock_keys, random, write_secret};

/// Longer texts are not looked at; a real token has about 400 bytes.
const TOKEN_BYTES_MAX: usize = 2_048;
/// Four characters of a token make three bytes, and the last few of them, or fewer, as many as three.
const CLAIMS_BYTES_MAX: usize = TOKEN_BYTES_MAX / 4 * 3 + 3;
/// Who issues our tokens.
pub const ISSUER: &str = "ropeline";

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
            header: BASE64.encode(header),
            mac: mac_with(secret),
        }
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
        BASE64.encode_string(claims, &mut token);
        let signature = key.mac.clone().chain_update(&token).finalize().into_bytes();
        token.push('.');
        BASE64.encode_string(signature, &mut token);
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
        let (signed, signature) = token.rsplit_once('.').ok_or(InvalidToken)?;
        let (header, payload) = signed.split_once('.').ok_or(InvalidToken)?;
        let key = self
            .keys
            .iter()
            .find(|key| key.header == header)
            .ok_or(InvalidToken)?;
        let mut bytes = [0; 33];
        let length = BASE64
            .decode_slice(signature, &mut bytes)
            .map_err(|_| InvalidToken)?;
        let mac = key.mac.clone().chain_update(signed);
        mac.verify_slice(&bytes[..length])
            .map_err(|_| InvalidToken)?;
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

fn claims_of(payload: &str) -> Result<Claims, InvalidToken> {
    let mut bytes = [0; CLAIMS_BYTES_MAX];
    let length = BASE64
        .decode_slice(payload, &mut bytes)
        .map_err(|_| InvalidToken)?;
    claims::read(&bytes[..length])
}

fn mac_with(secret: &[u8]) -> Hmac<Sha256> {
    Hmac::new_from_slice(secret).expect("HMAC takes keys of any length")
}

#[cfg(test)]
mod tests;
