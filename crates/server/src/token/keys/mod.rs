//! The keys that sign queue tokens.

mod file;
mod merge;

use std::collections::BTreeSet;

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD as BASE64};
use ropeline_core::Timestamp;
use serde::{Deserialize, Serialize};

pub use self::file::KeyError;
pub(crate) use self::file::{lock_keys, write_secret};
use super::{Key, KeyRing, mac_with};
use crate::moment::Moment;

/// Tokens find their key by comparing headers one by one, so there are few.
const KEYS_MAX: usize = 8;
/// Nodes that had keys of their own before they shared them may have more between them.
const KEYS_SHARED_MAX: usize = 64;
const SECRET_BYTES: usize = 32;

/// The signing keys as kept in the data directory, readable by the owner alone.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeyFile {
    /// Makes anonymous visitors' names; never rotated, so that a repeated request finds its place.
    visitor_secret: String,
    /// When that secret was made; where it is not written down, it is as old as the oldest key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    visitor_secret_made_at_ms: Option<u64>,
    /// Newest first; equally old ones by their ids.
    keys: Vec<StoredKey>,
    /// The ids of keys that were retired. They are remembered for ever, since another node, or a backup, may
    /// still have the keys.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    retired: BTreeSet<String>,
}

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
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
    /// A first key, and a secret for visitors' names.
    pub(crate) fn new(now: Timestamp) -> Self {
        Self {
            visitor_secret: secret(),
            visitor_secret_made_at_ms: Some(now.0),
            keys: vec![StoredKey::new(now)],
            retired: BTreeSet::new(),
        }
    }

    /// The keys of a text, or what is wrong with it.
    pub(crate) fn from_text(text: &str) -> Result<Self, String> {
        let mut file: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        file.put_in_order();
        file.ring()?;
        Ok(file)
    }

    /// The keys as text. The same keys are always the same text.
    pub(crate) fn to_text(&self) -> String {
        serde_json::to_string_pretty(self).expect("keys are plain data")
    }

    /// Adds a key that is newer than all others; they go on verifying.
    pub fn rotate(&mut self, now: Timestamp) -> Result<&str, KeyError> {
        if self.keys.len() >= KEYS_MAX {
            return Err(KeyError::TooMany);
        }
        // The clock of the node that made the last one may be ahead of this one's.
        let newest = self.keys.first().map_or(0, |key| key.created_at_ms);
        let made_at = Timestamp(now.0.max(newest + 1));
        self.keys.insert(0, StoredKey::new(made_at));
        Ok(&self.keys[0].kid)
    }

    /// Drops a key for good; tokens signed with it are void from now on.
    pub fn retire(&mut self, kid: &str) -> Result<(), KeyError> {
        let at = self.keys.iter().position(|key| key.kid == kid);
        match at {
            None => Err(KeyError::NoSuchKey(kid.to_owned())),
            Some(0) => Err(KeyError::Signing(kid.to_owned())),
            Some(at) => {
                // It may have been the oldest, and is then the only one that tells.
                self.visitor_secret_made_at_ms = Some(self.visitor_secret_age().0);
                self.retired.insert(self.keys.remove(at).kid);
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

    /// The keys ready for use, or what is wrong with them. The newest signs.
    pub fn ring(&self) -> Result<KeyRing, String> {
        self.ring_signing_by(0)
    }

    /// As [`KeyFile::ring`], where the newest of those that may signs. If none may, it is the oldest, which
    /// everybody has had for longest.
    pub(crate) fn ring_signing(&self, may_sign: impl Fn(&str) -> bool) -> Result<KeyRing, String> {
        let newest = self.keys.iter().position(|key| may_sign(&key.kid));
        self.ring_signing_by(newest.unwrap_or(self.keys.len().saturating_sub(1)))
    }

    fn ring_signing_by(&self, signer: usize) -> Result<KeyRing, String> {
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
        let mut keys: Vec<_> = keys.collect::<Result<_, _>>()?;
        if keys.is_empty() || keys.len() > KEYS_SHARED_MAX {
            return Err(format!("there must be 1 to {KEYS_SHARED_MAX} keys"));
        }
        keys.swap(0, signer);
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
