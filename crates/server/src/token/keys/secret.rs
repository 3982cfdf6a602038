//! A secret of another service of this process, kept in the data directory.

use std::{io, path::Path};

use super::{
    file::{lock_keys, write_secret},
    random,
};

/// The 32 bytes in a file of the data directory that only its owner may read; drawn now if there is no such file.
pub fn secret_in(directory: &Path, name: &str) -> io::Result<[u8; 32]> {
    let _lock = lock_keys(directory).map_err(io::Error::other)?;
    let path = directory.join(name);
    let bytes = match std::fs::read(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let secret = random();
            write_secret(&path, &secret)?;
            return Ok(secret);
        }
        bytes => bytes?,
    };
    let wrong = |bytes: Vec<u8>| {
        let length = bytes.len();
        io::Error::other(format!("it holds {length} bytes, and not 32"))
    };
    bytes.try_into().map_err(wrong)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_secret_is_drawn_once_and_for_its_owner_alone() {
        let directory = tempfile::tempdir().unwrap();
        let secret = secret_in(directory.path(), "a.key").unwrap();
        assert_eq!(secret_in(directory.path(), "a.key").unwrap(), secret);
        assert_ne!(secret_in(directory.path(), "b.key").unwrap(), secret);
        let file = std::fs::metadata(directory.path().join("a.key")).unwrap();
        assert_eq!(file.permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn what_is_no_secret_is_not_replaced() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("a.key"), "short").unwrap();
        let error = secret_in(directory.path(), "a.key").unwrap_err();
        assert_eq!(error.to_string(), "it holds 5 bytes, and not 32");
    }
}
