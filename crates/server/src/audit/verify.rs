//! Whether the lines of an audit log are as they were written.

use std::{
    fmt,
    fs::File,
    io::{self, BufRead, BufReader},
    path::{Path, PathBuf},
};

use serde::Deserialize;

use super::chain::{BEGINNING, hash, is_whole};

/// What an audit log looks like whose chain holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verified {
    /// Lines that are chained.
    pub chained: u64,
    /// Lines before them, which earlier versions did not chain.
    pub unchained: u64,
    /// Lines that a crash tore while they were written.
    pub torn: u64,
    /// The hash that the next line will have in `prev`. Who writes it down elsewhere notices lines that are removed from
    /// the end.
    pub head: String,
}

/// Why an audit log cannot be trusted.
#[derive(Debug)]
pub enum Unverified {
    /// A file cannot be read.
    Unreadable {
        /// Which one.
        file: PathBuf,
        /// Why not.
        cause: io::Error,
    },
    /// The chain breaks.
    Broken {
        /// In which file.
        file: PathBuf,
        /// At which line, from 1.
        line: u64,
        /// What is wrong there.
        why: Break,
    },
}

/// What is wrong with a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Break {
    /// It does not follow the one before it.
    DoesNotFollow,
    /// It is not chained, although lines before it are.
    NotChained,
    /// It continues lines that are not in these files.
    BeginningMissing,
}

/// What may come before the first line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Before {
    /// Nothing: the files are the whole log.
    Nothing,
    /// Lines in files that are no longer there.
    OlderFiles,
}

#[derive(Deserialize)]
struct Line {
    prev: Option<String>,
}

/// Verifies the files of a log, oldest first.
pub fn verify(files: &[PathBuf], before: Before) -> Result<Verified, Unverified> {
    let mut walk = Walk {
        before,
        since: None,
        last_whole: BEGINNING.to_owned(),
        is_at_beginning: true,
        seen: Verified {
            chained: 0,
            unchained: 0,
            torn: 0,
            head: BEGINNING.to_owned(),
        },
    };
    for file in files {
        walk.read(file)?;
    }
    if let Some(since) = walk.since {
        walk.seen.head = hash(&since);
    }
    Ok(walk.seen)
}

struct Walk {
    before: Before,
    /// The last whole line and what follows it.
    since: Option<Vec<u8>>,
    /// The hash of the last whole line alone.
    last_whole: String,
    /// Whether no line of the current file was whole.
    is_at_beginning: bool,
    seen: Verified,
}

impl Walk {
    fn read(&mut self, file: &Path) -> Result<(), Unverified> {
        let unreadable = |cause| Unverified::Unreadable {
            file: file.to_owned(),
            cause,
        };
        let mut lines = BufReader::new(File::open(file).map_err(unreadable)?);
        let mut number = 0;
        self.is_at_beginning = true;
        loop {
            let mut line = Vec::new();
            let read = lines.read_until(b'\n', &mut line).map_err(unreadable)?;
            if read == 0 {
                return Ok(());
            }
            line.pop_if(|last| *last == b'\n');
            number += 1;
            self.take(line).map_err(|why| Unverified::Broken {
                file: file.to_owned(),
                line: number,
                why,
            })?;
        }
    }

    fn take(&mut self, line: Vec<u8>) -> Result<(), Break> {
        if !is_whole(&line) {
            self.seen.torn += 1;
            let since = self.since.get_or_insert_default();
            if !since.is_empty() {
                since.push(b'\n');
            }
            since.extend(line);
            return Ok(());
        }
        let prev = serde_json::from_slice::<Line>(&line);
        match prev.ok().and_then(|line| line.prev) {
            Some(prev) => {
                self.follow(&prev)?;
                self.seen.chained += 1;
            }
            None if self.seen.chained > 0 => return Err(Break::NotChained),
            None => self.seen.unchained += 1,
        }
        self.last_whole = hash(&line);
        self.since = Some(line);
        self.is_at_beginning = false;
        Ok(())
    }

    fn follow(&self, prev: &str) -> Result<(), Break> {
        let follows = self.since.as_ref().is_some_and(|since| hash(since) == prev);
        // A server that starts with a new file knows nothing of a torn line in the old one.
        if follows || (self.is_at_beginning && prev == self.last_whole) {
            return Ok(());
        }
        let is_first = self.seen.chained + self.seen.unchained == 0;
        match (is_first, self.before) {
            (true, Before::OlderFiles) => Ok(()),
            (true, Before::Nothing) => Err(Break::BeginningMissing),
            (false, _) => Err(Break::DoesNotFollow),
        }
    }
}

impl fmt::Display for Verified {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} lines are chained, and the chain is unbroken",
            self.chained
        )?;
        if self.unchained > 0 {
            writeln!(
                f,
                "{} lines before them are not chained: an earlier version wrote them",
                self.unchained
            )?;
        }
        if self.torn > 0 {
            writeln!(
                f,
                "{} lines are incomplete: the server or the disk failed while they were written",
                self.torn
            )?;
        }
        writeln!(f, "the hash of the end is {}", self.head)
    }
}

impl std::error::Error for Unverified {}

impl fmt::Display for Unverified {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable { file, cause } => {
                write!(f, "cannot read the audit log {}: {cause}", file.display())
            }
            Self::Broken { file, line, why } => {
                write!(f, "{}:{line}: {why}", file.display())
            }
        }
    }
}

impl fmt::Display for Break {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::DoesNotFollow => {
                "this line does not follow the one before it: that one was changed, or lines were removed, added or moved"
            }
            Self::NotChained => "this line is not chained: it was added, or changed",
            Self::BeginningMissing => {
                "lines before this one are missing. Name the older files of the log first, or say --older-files-gone if \
                 they were deleted on purpose"
            }
        })
    }
}
