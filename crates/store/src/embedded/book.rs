//! The book: what is known of every room, in a file of redb's.
//!
//! redb writes a transaction to pages that nothing else uses and then switches to it, with checksums: after a
//! crash it is there as a whole or not at all.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
};

use redb::{Database, Durability, ReadableDatabase, TableDefinition, TableError, WriteTransaction};
use ropeline_core::Bounds;
use thiserror::Error;

use super::{
    load::{self, Loaded},
    merged::{Merged, Places},
    panics::caught,
    rows::RoomNumber,
};
use crate::private;

pub(super) const ROWS: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("rooms");
pub(super) type PlaceTable<'a> = TableDefinition<'a, u64, &'static [u8]>;
/// What ties the book to its journal.
const JOURNAL: TableDefinition<'_, &str, u64> = TableDefinition::new("journal");
const SEED: &str = "seed";
const WRITTEN: &str = "written";
/// Everything is in memory already; the cache only has to hold what a commit touches.
const CACHE_BYTES: usize = 32 << 20;
/// A file smaller than this is never worth compacting.
const COMPACT_MIN_BYTES: u64 = 64 << 20;
/// With more live places than this, compacting would take long.
const COMPACT_PLACES_MAX: u64 = 50_000;

/// Why the book could not be used.
#[derive(Debug, Error)]
pub(super) enum BookError {
    /// The file system refused.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// What is in the file does not make sense.
    #[error("{0}")]
    Damaged(String),
}

impl BookError {
    pub(super) fn damaged(cause: impl std::fmt::Display) -> Self {
        Self::Damaged(cause.to_string())
    }
}

/// The journal of a book: how its records are known, and up to which they are in the book.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) seed: u64,
    pub(super) written: u64,
}

/// How a transaction is committed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Commit {
    /// For what the journal has, too. If it is found damaged after a crash, redb goes back to the transaction before it.
    OnePhase,
    /// For what is nowhere else. redb never goes back to the transaction before it, which would lose it silently.
    TwoPhase,
}

/// The open file.
#[derive(Debug)]
pub(super) struct Book {
    path: PathBuf,
    database: Database,
    /// A file smaller than this is not worth compacting: twice the length after the last time, so that it is
    /// not tried again for nothing.
    compact_from: u64,
}

impl Book {
    /// Opens or makes the file, and checks all of it.
    pub(super) fn open(path: &Path) -> Result<Self, BookError> {
        caught(|| {
            let mut book = Self::reopen(path)?;
            // After a clean stop redb trusts the file; a bit that flipped since would go unnoticed.
            if !book.database.check_integrity().map_err(broken)? {
                return Err(BookError::damaged("its checksums do not match"));
            }
            Ok(book)
        })
    }

    /// Opens the file once more, after an error of this process's own.
    pub(super) fn reopen(path: &Path) -> Result<Self, BookError> {
        let mut builder = Database::builder();
        let builder = builder.set_cache_size(CACHE_BYTES);
        let mut options = File::options();
        let options = options.read(true).write(true).create(true).truncate(false);
        let file = private::open(path, options)?;
        let database = caught(|| builder.create_file(file).map_err(broken))?;
        Ok(Self {
            path: path.to_owned(),
            database,
            compact_from: COMPACT_MIN_BYTES,
        })
    }

    /// The journal that belongs to this book. A book that has none is given one.
    pub(super) fn mark(&self) -> Result<Mark, BookError> {
        if let Some(mark) = caught(|| read_mark(&self.database).map_err(broken))? {
            return Ok(mark);
        }
        let mut seed = [0; 8];
        getrandom::fill(&mut seed).map_err(|error| io::Error::other(error.to_string()))?;
        let mark = Mark {
            seed: u64::from_be_bytes(seed),
            written: 0,
        };
        self.transact(Commit::TwoPhase, |transaction| {
            let mut table = transaction.open_table(JOURNAL)?;
            table.insert(SEED, mark.seed)?;
            table.insert(WRITTEN, mark.written)?;
            Ok(())
        })?;
        Ok(mark)
    }

    /// Writes batches up to a number, and returns once they are on the disk.
    pub(super) fn write(
        &self,
        merged: &Merged<'_>,
        up_to: u64,
        commit: Commit,
    ) -> Result<(), BookError> {
        self.transact(commit, |transaction| {
            write_rows(transaction, merged)?;
            for (number, places) in &merged.places {
                write_places(transaction, *number, places)?;
            }
            transaction.open_table(JOURNAL)?.insert(WRITTEN, up_to)?;
            Ok(())
        })
    }

    fn transact(
        &self,
        commit: Commit,
        change: impl FnOnce(&WriteTransaction) -> Result<(), redb::Error>,
    ) -> Result<(), BookError> {
        let attempt = || {
            let mut transaction = self.database.begin_write()?;
            transaction.set_durability(Durability::Immediate)?;
            transaction.set_two_phase_commit(commit == Commit::TwoPhase);
            change(&transaction)?;
            transaction.commit()?;
            Ok(())
        };
        attempt().map_err(broken::<redb::Error>)
    }

    /// Gives space back to the file system once the line is short, when that takes a moment only.
    pub(super) fn compact_if_nearly_empty(&mut self, places: u64) -> Result<(), BookError> {
        if places > COMPACT_PLACES_MAX {
            return Ok(());
        }
        if self.length()? > self.compact_from {
            self.database.compact().map_err(broken)?;
            self.compact_from = COMPACT_MIN_BYTES.max(self.length()? * 2);
        }
        Ok(())
    }

    fn length(&self) -> Result<u64, BookError> {
        Ok(std::fs::metadata(&self.path)?.len())
    }

    /// Every room, with what the journal has beyond the book.
    pub(super) fn load(
        &self,
        newer: &Merged<'_>,
        bounds: Bounds,
    ) -> Result<Vec<Loaded>, BookError> {
        caught(|| {
            let transaction = self.database.begin_read().map_err(broken)?;
            load::rooms(&transaction, newer, bounds)
        })
    }
}

/// What redb says, in our words.
pub(super) fn broken<E: Into<redb::Error>>(error: E) -> BookError {
    match error.into() {
        // The file was read, and is not what it was.
        redb::Error::Io(error)
            if matches!(
                error.kind(),
                io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof
            ) =>
        {
            BookError::damaged(error)
        }
        redb::Error::Io(error) => BookError::Io(error),
        redb::Error::PreviousIo => BookError::Io(io::Error::other("an earlier write failed")),
        error => BookError::damaged(error),
    }
}

fn read_mark(database: &Database) -> Result<Option<Mark>, redb::Error> {
    let transaction = database.begin_read()?;
    let table = match transaction.open_table(JOURNAL) {
        Err(TableError::TableDoesNotExist(_)) => return Ok(None),
        table => table?,
    };
    let [seed, written] = [table.get(SEED)?, table.get(WRITTEN)?];
    Ok(seed.zip(written).map(|(seed, written)| Mark {
        seed: seed.value(),
        written: written.value(),
    }))
}

fn write_rows(transaction: &WriteTransaction, merged: &Merged<'_>) -> Result<(), redb::Error> {
    let mut table = transaction.open_table(ROWS)?;
    for (first, last) in &merged.purges {
        table.retain_in::<&[u8], _>(*first..=*last, |_, _| false)?;
    }
    for (key, value) in &merged.rows {
        table.insert(key, value)?;
    }
    Ok(())
}

fn write_places(
    transaction: &WriteTransaction,
    number: RoomNumber,
    places: &Places<'_>,
) -> Result<(), redb::Error> {
    let name = place_table(number);
    let mut table = transaction.open_table(PlaceTable::new(&name))?;
    if let Some(last) = places.purge {
        table.retain_in(..=last.0, |_, _| false)?;
    }
    for (ordinal, value) in &places.rows {
        match value {
            Some(value) => drop(table.insert(ordinal.0, value)?),
            None => drop(table.remove(ordinal.0)?),
        }
    }
    Ok(())
}

pub(super) fn place_table(number: RoomNumber) -> String {
    format!("places-{number}")
}

#[cfg(test)]
mod tests {
    use ropeline_core::{Live, Ordinal};

    use super::{super::rows::Batch, *};

    fn write(book: &Book, batch: &Batch) {
        let merged = Merged::of([batch.bytes()]).unwrap();
        book.write(&merged, 1, Commit::OnePhase).unwrap();
    }

    #[test]
    fn space_is_given_back_once_a_long_line_has_gone() {
        let directory = tempfile::tempdir().unwrap();
        let mut book = Book::open(&directory.path().join("rooms.redb")).unwrap();
        let visitor = format!("u:{}", "x".repeat(128));
        let mut batch = Batch::default();
        for ordinal in 1..=40_000 {
            batch.place(0, Ordinal(ordinal), Some((&visitor, Live::InLine)));
        }
        write(&book, &batch);
        let long = book.length().unwrap();
        let mut batch = Batch::default();
        batch.purge_places(0, Ordinal(39_999));
        write(&book, &batch);
        book.compact_from = long / 2;
        book.compact_if_nearly_empty(COMPACT_PLACES_MAX + 1)
            .unwrap();
        assert_eq!(book.length().unwrap(), long, "not while many are live");
        book.compact_if_nearly_empty(1).unwrap();
        let short = book.length().unwrap();
        assert!(short < long / 4, "{short} of {long}");
        let transaction = book.database.begin_read().unwrap();
        let table = transaction.open_table(PlaceTable::new("places-0")).unwrap();
        let left = redb::ReadableTableMetadata::len(&table).unwrap();
        assert_eq!(left, 1, "who is left is still there");
    }

    #[test]
    fn a_book_keeps_to_its_journal() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("rooms.redb");
        let book = Book::open(&path).unwrap();
        let mark = book.mark().unwrap();
        assert_eq!(mark.written, 0);
        book.write(&Merged::default(), 7, Commit::OnePhase).unwrap();
        drop(book);
        let written = Mark { written: 7, ..mark };
        assert_eq!(Book::open(&path).unwrap().mark().unwrap(), written);
    }
}
