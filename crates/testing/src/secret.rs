//! Files that only their owner may read, as Ropeline asks of secrets.

use std::{
    fs::{self, Permissions},
    os::unix::fs::PermissionsExt,
    path::Path,
};

/// Writes a secret to a file that only its owner may read.
pub fn write_secret(path: &Path, text: impl AsRef<[u8]>) {
    fs::write(path, text).expect("a file in a directory of the test's own");
    let own = Permissions::from_mode(0o600);
    fs::set_permissions(path, own).expect("a file of the test's own");
}
