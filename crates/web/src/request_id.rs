//! The name under which one request is found in every log.

use std::{
    convert::Infallible,
    fmt,
    sync::{
        LazyLock,
        atomic::{AtomicU64, Ordering},
    },
};

use axum::extract::FromRequestParts;
use http::{HeaderName, HeaderValue, request::Parts};

pub(crate) const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Longest id taken over from a client; a UUID has 36.
const LENGTH_MAX: usize = 64;

/// The id of the request at hand; handlers may extract it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestId(HeaderValue);

impl RequestId {
    /// The id as it is sent and logged.
    pub fn as_str(&self) -> &str {
        self.0.to_str().unwrap_or_default()
    }

    /// The id of a request: the one that the [`Server`](crate::Server) around this service gave it, or chosen as it would.
    pub fn of(head: &Parts) -> Self {
        let given = head.extensions.get::<Self>().cloned();
        given.unwrap_or_else(|| Self::choose(head.headers.get(X_REQUEST_ID)))
    }

    /// The client's own id where it is harmless in a log line, else a new one.
    pub(crate) fn choose(offered: Option<&HeaderValue>) -> Self {
        match offered {
            Some(value) if is_harmless(value.as_bytes()) => Self(value.clone()),
            _ => Self::make(),
        }
    }

    pub(crate) fn to_header(&self) -> HeaderValue {
        self.0.clone()
    }

    /// Ids need not be secret, only distinct: random once per process, then counted.
    fn make() -> Self {
        static PROCESS: LazyLock<u32> = LazyLock::new(|| getrandom::u32().unwrap_or_default());
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let id = hex((u128::from(*PROCESS) << 48) | u128::from(count));
        Self(HeaderValue::from_bytes(&id).expect("hexadecimal digits are a header value"))
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Outside of a [`Server`](crate::Server), as in a test of a bare router, a request has no id yet.
impl<S: Sync> FromRequestParts<S> for RequestId {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(parts.extensions.get_or_insert_with(Self::make).clone())
    }
}

fn is_harmless(id: &[u8]) -> bool {
    (1..=LENGTH_MAX).contains(&id.len())
        && id
            .iter()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'))
}

/// The low 80 bits; `format!` costs three times as much.
fn hex(mut number: u128) -> [u8; 20] {
    let mut digits = [0; 20];
    for digit in digits.iter_mut().rev() {
        *digit = b"0123456789abcdef"[(number & 0xf) as usize];
        number >>= 4;
    }
    digits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_made_here_are_distinct_and_acceptable_elsewhere() {
        let (first, second) = (RequestId::make(), RequestId::make());
        assert_ne!(first, second);
        assert_eq!(RequestId::choose(Some(&first.to_header())), first);
    }

    #[test]
    fn only_short_plain_ids_are_taken_over() {
        let longest = "a".repeat(64);
        assert!(is_harmless(b"Ab-1._"));
        assert!(is_harmless(longest.as_bytes()));
        for refused in [&b""[..], b"a b", b"a\"", b"\xff", "a".repeat(65).as_bytes()] {
            assert!(!is_harmless(refused), "{refused:?}");
        }
    }
}
