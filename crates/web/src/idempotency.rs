//! A caller's own name for a request that may be sent again.

use std::fmt;

use axum::extract::OptionalFromRequestParts;
use http::{HeaderMap, HeaderName, request::Parts};

use crate::{INVALID_REQUEST, Problem};

const HEADER: HeaderName = HeaderName::from_static("idempotency-key");
const BYTES_MAX: usize = 255;

/// A caller's own name for a request, by which a repetition is recognised: 1 to 255 visible ASCII characters.
///
/// A key belongs to the user who sends it: two users may send the same one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct IdempotencyKey(Box<str>);

/// A text that is not a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvalidIdempotencyKey;

impl IdempotencyKey {
    /// The header that carries a key, as people write it.
    pub const NAME: &str = "Idempotency-Key";

    /// Takes a key as it was sent.
    pub fn parse(text: &str) -> Result<Self, InvalidIdempotencyKey> {
        let visible = text.bytes().all(|byte| byte.is_ascii_graphic());
        if visible && (1..=BYTES_MAX).contains(&text.len()) {
            Ok(Self(text.into()))
        } else {
            Err(InvalidIdempotencyKey)
        }
    }

    /// The key of a request, if it has one. Two are as bad as a wrong one.
    pub fn of(headers: &HeaderMap) -> Result<Option<Self>, InvalidIdempotencyKey> {
        let mut values = headers.get_all(&HEADER).into_iter();
        let Some(value) = values.next() else {
            return Ok(None);
        };
        if values.next().is_some() {
            return Err(InvalidIdempotencyKey);
        }
        let text = value.to_str().map_err(|_| InvalidIdempotencyKey)?;
        Self::parse(text).map(Some)
    }

    /// The key as it was sent.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl InvalidIdempotencyKey {
    /// What a key must be.
    pub const RULE: &str = "1 to 255 visible ASCII characters";
}

impl fmt::Display for InvalidIdempotencyKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "An {} has {}.", IdempotencyKey::NAME, Self::RULE)
    }
}

impl std::error::Error for InvalidIdempotencyKey {}

impl From<InvalidIdempotencyKey> for Problem {
    fn from(invalid: InvalidIdempotencyKey) -> Self {
        let problem = Self::new(&INVALID_REQUEST, invalid.to_string());
        problem.error(IdempotencyKey::NAME, InvalidIdempotencyKey::RULE)
    }
}

impl<S: Sync> OptionalFromRequestParts<S> for IdempotencyKey {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Option<Self>, Problem> {
        Ok(Self::of(&parts.headers)?)
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn headers(keys: &[&[u8]]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for key in keys {
            headers.append(&HEADER, HeaderValue::from_bytes(key).unwrap());
        }
        headers
    }

    #[test]
    fn a_key_is_short_and_visible() {
        let longest = "x".repeat(BYTES_MAX);
        for good in ["6f1c-1", "~", &longest] {
            let found = IdempotencyKey::of(&headers(&[good.as_bytes()]));
            let found = found.unwrap().expect("there is one");
            assert_eq!(found.as_str(), good);
        }
        let too_long = "x".repeat(BYTES_MAX + 1);
        for bad in ["", "a b", "é", "a\tb", &too_long] {
            let found = IdempotencyKey::of(&headers(&[bad.as_bytes()]));
            assert_eq!(found, Err(InvalidIdempotencyKey), "{bad:?}");
        }
        assert_eq!(IdempotencyKey::of(&headers(&[])), Ok(None));
    }

    #[test]
    fn two_keys_are_none() {
        for keys in [[&b"a"[..], b"b"], [b"a", b"a"]] {
            let found = IdempotencyKey::of(&headers(&keys));
            assert_eq!(found, Err(InvalidIdempotencyKey));
        }
    }
}
