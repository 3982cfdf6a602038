//! The keys that sign queue tokens.

mod file;

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD as BASE64};
use ropeline_core::Timestamp;
use serde::{Deserialize, Serialize};

pub use self::file::KeyError;
pub(crate) use self::file::write_secret;
use super::{Key, KeyRing, mac_with};
use crate::moment::Moment;

/// Tokens find their key by comparing headers one by one, so there are few.
const KEYS_MAX: usize = 8;
const SECRET_BYTES: usize = 32;

/// The signing keys as kept in the data directory, readable by the owner alone.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeyFile {
    /// Makes anonymous visitors' names; never rotated, so that a repeated request finds its place.
    visitor_secret: String,
    /// Newest first.
    keys: Vec<StoredKey>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredKey {
    kid: String,
    created_at_ms: u64,
    secret: String,
}

impl std::fmt::Debug for KeyFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.kids()).finish()
    }
}

impl KeyFile {
    /// Adds a key that signs from now on; the others go on verifying.
    pub fn rotate(&mut self, now: Timestamp) -> Result<&str, KeyError> {
        if self.keys.len() >= KEYS_MAX {
            return Err(KeyError::TooMany);
        }
        self.keys.insert(0, StoredKey::new(now));
        Ok(&self.keys[0].kid)
    }

    /// Drops a key; tokens signed with it are void from now on.
    pub fn retire(&mut self, kid: &str) -> Result<(), KeyError> {
        let at = self.keys.iter().position(|key| key.kid == kid);
        match at {
            None => Err(KeyError::NoSuchKey(kid.to_owned())),
            Some(0) => Err(KeyError::Signing(kid.to_owned())),
            Some(at) => {
                self.keys.remove(at);
                Ok(())
            }
        }
    }

    /// The ids of the keys, the signing one first, and when each was made.
    pub fn kids(&self) -> impl Iterator<Item = (&str, Moment)> + '_ {
        self.keys
            .iter()
            .map(|key| (key.kid.as_str(), Moment(Timestamp(key.created_at_ms))))
    }

    /// The keys ready for use, or what is wrong with them.
    pub fn ring(&self) -> Result<KeyRing, String> {
        let bytes = |secret: &str| match BASE64.decode(secret) {
            Ok(bytes) if bytes.len() == SECRET_BYTES => Ok(bytes),
            _ => Err("a secret is 32 bytes in base64url".to_owned()),
        };
        let plain = |kid: &str| kid.bytes().all(|b| b.is_ascii_alphanumeric()) && !kid.is_empty();
        let keys = self.keys.iter().map(|key| {
            if !plain(&key.kid) {
                return Err("a kid has letters and digits only".to_owned());
            }
            Ok(Key::new(&key.kid, &bytes(&key.secret)?))
        });
        let keys: Vec<_> = keys.collect::<Result<_, _>>()?;
        if keys.is_empty() || keys.len() > KEYS_MAX {
            return Err(format!("there must be 1 to {KEYS_MAX} keys"));
        }
        Ok(KeyRing {
            keys,
            visitor_secret: mac_with(&bytes(&self.visitor_secret)?),
        })
    }
}

impl StoredKey {
    fn new(now: Timestamp) -> Self {
        let kid = format!("{:016x}", u64::from_ne_bytes(random()));
        Self {
            kid,
            created_at_ms: now.0,
            secret: secret(),
        }
    }
}

fn secret() -> String {
    BASE64.encode(random::<SECRET_BYTES>())
}

/// Bytes that nobody can guess.
pub(crate) fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("the operating system has randomness");
    bytes
}
