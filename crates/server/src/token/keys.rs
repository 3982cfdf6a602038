//! The file of signing keys.

use std::{
    fs::{File, OpenOptions},
    io::{self, Write},
    os::unix::fs::{OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
};

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD as BASE64};
use ropeline_core::Timestamp;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::{Key, KeyRing, mac_with};
use crate::moment::Moment;

const FILE: &str = "keys.json";
/// Tokens find their key by comparing headers one by one, so there are few.
const KEYS_MAX: usize = 8;
const SECRET_BYTES: usize = 32;

/// Why the keys could not be read or written, worded for the operator.
#[derive(Debug, Error)]
pub enum KeyError {
    /// The file system refused.
    #[error("cannot use the signing keys in {path}: {cause}")]
    Io {
        /// The file.
        path: PathBuf,
        /// Why not.
        cause: io::Error,
    },
    /// Others can read them.
    #[error(
        "{path} can be read by others: run `chmod 600 {path}`, and rotate the keys if others have seen them"
    )]
    Exposed {
        /// The file.
        path: PathBuf,
    },
    /// What is in the file is not keys.
    #[error("{path} does not hold signing keys: {cause}")]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        cause: String,
    },
    /// No such key.
    #[error("there is no key {0}")]
    NoSuchKey(String),
    /// The newest key signs.
    #[error("{0} is the key that signs: rotate first, and retire it when its tokens have run out")]
    Signing(String),
    /// There is a bound on their number.
    #[error("there are {KEYS_MAX} keys already: retire one first")]
    TooMany,
}

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
    /// Where the keys of a data directory are.
    pub fn path(directory: &Path) -> PathBuf {
        directory.join(FILE)
    }

    /// The keys of a data directory, made now if there are none.
    pub fn open_or_create(directory: &Path, now: Timestamp) -> Result<Self, KeyError> {
        if Self::path(directory).exists() {
            return Self::open(directory);
        }
        let file = Self {
            visitor_secret: secret(),
            keys: vec![StoredKey::new(now)],
        };
        file.save(directory)?;
        Ok(file)
    }

    /// The keys of a data directory.
    pub fn open(directory: &Path) -> Result<Self, KeyError> {
        let path = Self::path(directory);
        let io = |cause| KeyError::Io {
            path: path.clone(),
            cause,
        };
        let metadata = std::fs::metadata(&path).map_err(io)?;
        if metadata.permissions().mode() & 0o077 != 0 {
            return Err(KeyError::Exposed { path });
        }
        let text = std::fs::read(&path).map_err(io)?;
        let malformed = |cause: String| KeyError::Malformed {
            path: path.clone(),
            cause,
        };
        let file: Self = serde_json::from_slice(&text).map_err(|e| malformed(e.to_string()))?;
        file.ring().map_err(malformed)?;
        Ok(file)
    }

    /// Writes the keys so that at any instant the old or the new file is there as a whole.
    pub fn save(&self, directory: &Path) -> Result<(), KeyError> {
        let path = Self::path(directory);
        let text = serde_json::to_vec_pretty(self).expect("keys are plain data");
        write_secret(&path, &text).map_err(|cause| KeyError::Io { path, cause })
    }

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

/// Writes a file that only its owner may read, as a whole or not at all.
pub(crate) fn write_secret(path: &Path, text: &[u8]) -> io::Result<()> {
    let fresh = path.with_extension("new");
    // A left-over of an interrupted write may have other permissions.
    match std::fs::remove_file(&fresh) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&fresh)?;
    file.write_all(text)?;
    file.sync_all()?;
    std::fs::rename(&fresh, path)?;
    let directory = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    File::open(directory.unwrap_or(Path::new(".")))?.sync_all()
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
