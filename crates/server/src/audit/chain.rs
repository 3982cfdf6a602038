//! The file of the audit log, whose lines are chained.
//!
//! Each line has in `prev` the SHA-256 of the line before it, without its line end. If a crash tore that line, it is the
//! SHA-256 of the last whole line and all that follows. The first line of a log has 64 zeros. So a line cannot be
//! changed, removed or moved without the next one showing it; lines removed from the end are not missed by the file alone.
//!
//! When the file is moved away, the chain goes on in a new one. A process that runs then knows the end of the old file. One
//! that starts later finds the hash of the last line in `audit.head`.

use std::{
    fmt::Write as _,
    fs::{self, File},
    io::{self, Read, Seek, SeekFrom, Write},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use ropeline_store::private;
use serde::de::IgnoredAny;
use sha2::{Digest, Sha256};

/// What stands in the place of a hash where nothing comes before.
pub(super) const BEGINNING: &str =
    "0000000000000000000000000000000000000000000000000000000000000000";
/// How much of the end of a file is read at first to find its last line.
const TAIL_BYTES: u64 = 64 * 1024;

/// The file, open for writing at its end.
#[derive(Debug)]
pub(super) struct Chain {
    path: PathBuf,
    file: File,
    /// The hash that the next line has in `prev`.
    prev: String,
    /// The length of the file after this process's last line; `None` if that has to be found out.
    end: Option<u64>,
    /// Whether the file ends within a line, which has to be ended first.
    is_torn: bool,
}

/// The end of a file.
struct Tail {
    /// The last whole line, and what follows it; `None` if no line is whole.
    bytes: Option<Vec<u8>>,
    /// Whether the file ends within a line.
    is_torn: bool,
}

impl Chain {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let mut chain = Self {
            path: path.to_owned(),
            file: open(path)?,
            prev: read_head(path).unwrap_or_else(|| BEGINNING.to_owned()),
            end: None,
            is_torn: false,
        };
        chain.file.lock()?;
        let found = chain.find_end();
        if found.is_ok() && chain.prev != BEGINNING {
            chain.write_head();
        }
        chain.file.unlock()?;
        found.map(|()| chain)
    }

    /// Goes on in a new file if the old one was moved away. The next line would do so, too.
    pub(super) fn reopen(&mut self) -> io::Result<()> {
        self.lock()?;
        self.file.unlock()
    }

    /// Adds a line, which `line` makes of the hash in its `prev`, and returns once it is on the disk.
    pub(super) fn append(&mut self, line: impl FnOnce(&str) -> String) -> io::Result<()> {
        self.lock()?;
        let appended = self.append_locked(line);
        self.file.unlock()?;
        if appended.is_err() {
            // Part of the line may have been written.
            self.end = None;
        }
        appended
    }

    fn append_locked(&mut self, line: impl FnOnce(&str) -> String) -> io::Result<()> {
        self.find_end()?;
        let line = line(&self.prev);
        let text = format!("{}{line}\n", if self.is_torn { "\n" } else { "" });
        self.file.write_all(text.as_bytes())?;
        self.file.sync_data()?;
        self.prev = hash(line.as_bytes());
        self.end = self.end.map(|end| end + text.len() as u64);
        self.is_torn = false;
        self.write_head();
        Ok(())
    }

    /// Locks the file of that name, which may be a new one by now. If that cannot be opened, the old one is locked.
    ///
    /// Another process may use the same data directory. Neither writes to a file that was moved away, so its end is final
    /// once it is found under the lock.
    fn lock(&mut self) -> io::Result<()> {
        self.file.lock()?;
        while self.was_moved() {
            self.find_end()?;
            match open(&self.path) {
                Ok(file) => self.file = file,
                Err(error) => {
                    tracing::error!(%error, "the audit log was moved and cannot be opened again: it goes on in the old file");
                    return Ok(());
                }
            }
            self.end = None;
            self.is_torn = false;
            self.file.lock()?;
        }
        Ok(())
    }

    fn was_moved(&self) -> bool {
        let id = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
        match (fs::metadata(&self.path), self.file.metadata()) {
            (Ok(named), Ok(opened)) => id(named) != id(opened),
            (Err(error), _) => error.kind() == io::ErrorKind::NotFound,
            (Ok(_), Err(_)) => false,
        }
    }

    /// Keeps the hash of the last line for a start that finds no line in the file. Not synced, since the file tells it
    /// unless it is moved away.
    fn write_head(&self) {
        let path = head_path(&self.path);
        // All hashes have the same length, so nothing of the one before is left.
        let file = private::open(&path, File::options().create(true).write(true));
        let written = file.and_then(|mut file| writeln!(file, "{}", self.prev));
        if let Err(error) = written {
            tracing::warn!(%error, "cannot write {}: the audit log can be moved only while the server runs", path.display());
        }
    }

    /// Finds out where the chain goes on.
    ///
    /// A file that has grown has lines of another process. One that is shorter than it was has lost lines, and goes on
    /// from the last one that this process wrote, so that the loss shows.
    fn find_end(&mut self) -> io::Result<()> {
        let length = self.file.metadata()?.len();
        if self.end == Some(length) {
            return Ok(());
        }
        let tail = tail(&mut self.file, length)?;
        let has_lost = self.end.is_some_and(|end| length < end);
        if let Some(bytes) = tail.bytes.filter(|_| !has_lost) {
            self.prev = hash(&bytes);
        }
        self.end = Some(length);
        self.is_torn = tail.is_torn;
        Ok(())
    }
}

fn open(path: &Path) -> io::Result<File> {
    private::open(path, File::options().create(true).read(true).append(true))
}

fn head_path(log: &Path) -> PathBuf {
    log.with_extension("head")
}

/// The hash of the last line, as far as it is known without the file that has that line.
fn read_head(log: &Path) -> Option<String> {
    let text = private::read(&head_path(log)).ok()?;
    let head = text.trim_end();
    let is_hash =
        head.len() == BEGINNING.len() && head.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hash.then(|| head.to_owned())
}

fn tail(file: &mut File, length: u64) -> io::Result<Tail> {
    let mut size = length.min(TAIL_BYTES);
    loop {
        file.seek(SeekFrom::Start(length - size))?;
        let mut bytes = Vec::new();
        file.take(size).read_to_end(&mut bytes)?;
        let from = last_whole_line(&bytes, size == length);
        if from.is_some() || size == length {
            let is_torn = bytes.last().is_some_and(|byte| *byte != b'\n');
            let end = bytes.len() - usize::from(!is_torn && !bytes.is_empty());
            return Ok(Tail {
                bytes: from.map(|from| bytes[from..end].to_vec()),
                is_torn,
            });
        }
        size = length.min(size * 4);
    }
}

/// Where the last whole line begins. The first line is one only if the bytes are the whole file.
fn last_whole_line(bytes: &[u8], is_whole_file: bool) -> Option<usize> {
    let ends = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
    let mut starts: Vec<_> = ends.map(|(at, _)| at + 1).collect();
    if is_whole_file {
        starts.insert(0, 0);
    }
    let is_whole_at = |start: &usize| {
        let line = bytes[*start..].split(|byte| *byte == b'\n').next();
        line.is_some_and(is_whole)
    };
    starts.into_iter().rev().find(is_whole_at)
}

/// Whether a line was written to its end: no beginning of an object is one.
pub(super) fn is_whole(line: &[u8]) -> bool {
    line.first() == Some(&b'{') && serde_json::from_slice::<IgnoredAny>(line).is_ok()
}

/// SHA-256 in hexadecimal.
pub(super) fn hash(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(64);
    for byte in Sha256::digest(bytes) {
        write!(text, "{byte:02x}").expect("a String takes everything");
    }
    text
}
