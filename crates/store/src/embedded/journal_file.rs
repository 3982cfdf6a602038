//! The file of the journal. It has its full length before the first record is written, so a shorter one is damaged.

use std::{
    fs::{self, File},
    io::{self, Read, Seek, Write},
    path::Path,
};

use super::{book::Mark, journal::JournalError};
use crate::private;

/// About a second of joins as fast as they can be.
pub(super) const LENGTH: usize = 4 << 20;
/// The name until the file has its full length: a crash before that leaves the real name unused.
const UNFINISHED: &str = "journal.new";

/// Opens the file, or makes it if it is missing, and reads all of it.
pub(super) fn open(path: &Path, mark: Mark) -> Result<(File, Vec<u8>), JournalError> {
    let mut file = match private::open(path, File::options().read(true).write(true)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => make_missing(path, mark)?,
        opened => opened?,
    };
    let mut bytes = Vec::with_capacity(LENGTH);
    file.read_to_end(&mut bytes)?;
    if bytes.len() >= LENGTH {
        return Ok((file, bytes));
    }
    // Earlier versions wrote their zeros under the real name. A crash there left zeros, and a new database.
    if mark.written > 0 || bytes.iter().any(|byte| *byte != 0) {
        return Err(JournalError::Short {
            length: bytes.len(),
        });
    }
    Ok((make(path)?, vec![0; LENGTH]))
}

fn make_missing(path: &Path, mark: Mark) -> io::Result<File> {
    if mark.written > 0 {
        tracing::warn!(
            file = %path.display(),
            "the journal is missing and is created again; unless the server was stopped cleanly, \
             the changes of its last second are lost"
        );
    }
    make(path)
}

/// Makes a file of zeros. Nothing has the name before all of it is on the disk.
fn make(path: &Path) -> io::Result<File> {
    let unfinished = path.with_extension(UNFINISHED);
    let mut options = File::options();
    let options = options.read(true).write(true).create(true).truncate(true);
    let mut file = private::open(&unfinished, options)?;
    file.write_all(&vec![0; LENGTH])?;
    file.sync_all()?;
    fs::rename(&unfinished, path)?;
    // The name is in the directory, which some systems sync apart.
    if let Some(directory) = path.parent().and_then(|parent| File::open(parent).ok()) {
        directory.sync_all().ok();
    }
    file.rewind()?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEW: Mark = Mark {
        seed: 77,
        written: 0,
    };
    const USED: Mark = Mark { written: 5, ..NEW };

    fn directory() -> tempfile::TempDir {
        tempfile::tempdir_in("/dev/shm")
            .or_else(|_| tempfile::tempdir())
            .unwrap()
    }

    fn is_empty_ring(opened: Result<(File, Vec<u8>), JournalError>) -> bool {
        opened.unwrap().1 == vec![0; LENGTH]
    }

    #[test]
    fn a_crash_while_the_file_is_made_does_not_stop_the_next_start() {
        for length in [0, 1, 2_000, LENGTH - 1, LENGTH] {
            for mark in [NEW, USED] {
                let directory = directory();
                let path = directory.path().join("rooms.journal");
                let unfinished = directory.path().join("rooms.journal.new");
                fs::write(&unfinished, vec![0; length]).unwrap();
                assert!(is_empty_ring(open(&path, mark)), "{length} bytes, {mark:?}");
                assert!(!unfinished.exists());
                assert!(is_empty_ring(open(&path, mark)), "{length} bytes, {mark:?}");
            }
        }
    }

    #[test]
    fn a_file_that_an_earlier_version_left_unfinished_is_made_whole() {
        for length in [0, 1, 2_000, LENGTH - 1] {
            let directory = directory();
            let path = directory.path().join("rooms.journal");
            fs::write(&path, vec![0; length]).unwrap();
            assert!(is_empty_ring(open(&path, NEW)), "{length} bytes");
            assert_eq!(fs::metadata(&path).unwrap().len(), LENGTH as u64);
        }
    }

    #[test]
    fn a_short_file_is_refused_unless_nothing_was_ever_written() {
        let directory = directory();
        let path = directory.path().join("rooms.journal");
        let refuses = |bytes: &[u8], mark| {
            fs::write(&path, bytes).unwrap();
            let short =
                |error| matches!(error, JournalError::Short { length } if length == bytes.len());
            let refused = open(&path, mark).is_err_and(short);
            refused && fs::read(&path).unwrap() == bytes
        };
        assert!(refuses(&[], USED));
        for length in [1, 2_000, LENGTH - 1] {
            assert!(refuses(&vec![0; length], USED), "{length} bytes");
            assert!(refuses(&vec![1; length], USED), "{length} bytes");
            assert!(refuses(&vec![1; length], NEW), "{length} bytes");
        }
    }
}
