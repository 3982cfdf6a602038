//! The file of signing keys.

use std::{
    fs::{File, OpenOptions},
    io::{self, Write},
    os::unix::fs::{OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
};

use ropeline_core::Timestamp;
use thiserror::Error;

use super::{KEYS_MAX, KeyFile, StoredKey, secret};

const FILE: &str = "keys.json";

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
