//! The file of signing keys.

use std::{
    fs::{File, OpenOptions},
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use ropeline_core::Timestamp;
use ropeline_store::private;
use thiserror::Error;

use super::{KEYS_MAX, KeyFile};

const FILE: &str = "keys.json";
/// Held by whoever reads the keys in order to write them, so that a server and a command on the same directory
/// never undo each other's changes.
const LOCK: &str = "keys.lock";

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
        if let Some(keys) = Self::find(directory)? {
            return Ok(keys);
        }
        let file = Self::new(now);
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
        let text = private::read_secret(&path).map_err(io)?;
        Self::from_text(&text).map_err(|cause| KeyError::Malformed { path, cause })
    }

    /// Changes the keys of a data directory, while nobody else does.
    pub fn change<T>(
        directory: &Path,
        change: impl FnOnce(&mut Self) -> Result<T, KeyError>,
    ) -> Result<T, KeyError> {
        let _lock = lock_keys(directory)?;
        let mut keys = Self::open(directory)?;
        let answer = change(&mut keys)?;
        keys.save(directory)?;
        Ok(answer)
    }

    /// Adds these keys to those of a data directory, if it has any, and says what there is then.
    pub(crate) fn keep(&self, directory: &Path) -> Result<Self, KeyError> {
        let _lock = lock_keys(directory)?;
        let before = Self::find(directory)?;
        let keys = match &before {
            Some(before) => self.merge(before),
            None => self.clone(),
        };
        if before.as_ref() != Some(&keys) {
            keys.save(directory)?;
        }
        Ok(keys)
    }

    /// The keys of a data directory, if it has any.
    pub(crate) fn find(directory: &Path) -> Result<Option<Self>, KeyError> {
        match Self::open(directory) {
            Err(KeyError::Io { cause, .. }) if cause.kind() == io::ErrorKind::NotFound => Ok(None),
            keys => keys.map(Some),
        }
    }

    /// Writes the keys so that at any instant the old or the new file is there as a whole.
    fn save(&self, directory: &Path) -> Result<(), KeyError> {
        let path = Self::path(directory);
        write_secret(&path, self.to_text().as_bytes()).map_err(|cause| KeyError::Io { path, cause })
    }
}

/// The lock on the keys of a directory, until it is dropped.
pub(crate) fn lock_keys(directory: &Path) -> Result<File, KeyError> {
    let path = directory.join(LOCK);
    let mut options = OpenOptions::new();
    let options = options.write(true).create(true).truncate(false);
    let locked = private::open(&path, options).and_then(|file| {
        file.lock()?;
        Ok(file)
    });
    locked.map_err(|cause| KeyError::Io { path, cause })
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
