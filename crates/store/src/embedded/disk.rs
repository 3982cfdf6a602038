//! The data directory: the book with every room, and before it the journal, which is synced for every batch.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use ropeline_core::Bounds;
use thiserror::Error;

use super::{
    book::{Book, BookError, Mark},
    journal::{self, Journal, JournalError, Record},
    keeper::{Failed, Keeper},
    load::Loaded,
    merged::Merged,
    rooms::Rooms,
    rows::Batch,
};

pub(super) const BOOK: &str = "rooms.redb";
pub(super) const JOURNAL: &str = "rooms.journal";
/// With so much in the journal, the book is written without waiting for more.
const HURRY_FROM: usize = journal::BATCH_MAX;

/// Why the files could not be used.
#[derive(Debug, Error)]
pub(super) enum DiskError {
    /// The book could not be used.
    #[error("{0}")]
    Book(#[from] BookError),
    /// The journal could not be used.
    #[error("{0}")]
    Journal(#[from] JournalError),
    /// The book could not be written a moment ago.
    #[error("{}", .0.0)]
    Failed(Failed),
}

impl From<Failed> for DiskError {
    fn from(failed: Failed) -> Self {
        Self::Failed(failed)
    }
}

/// The files, as they were found.
#[derive(Debug)]
pub(super) struct Files {
    directory: PathBuf,
    book: Book,
    mark: Mark,
    journal: Journal,
    /// What the book has not.
    records: Vec<Record>,
}

impl Files {
    /// Opens or makes the files, and checks all of them.
    pub(super) fn open(directory: &Path) -> Result<Self, DiskError> {
        let path = directory.join(BOOK);
        // redb would take an empty file for a new one. A new one has no journal yet.
        let is_empty = std::fs::metadata(&path).is_ok_and(|file| file.len() == 0);
        if is_empty && directory.join(JOURNAL).exists() {
            return Err(BookError::damaged("it is empty").into());
        }
        Self::with(Book::open(&path)?, directory)
    }

    fn with(book: Book, directory: &Path) -> Result<Self, DiskError> {
        let mark = book.mark()?;
        let (journal, records) = Journal::open(&directory.join(JOURNAL), mark)?;
        Ok(Self {
            directory: directory.to_owned(),
            book,
            mark,
            journal,
            records,
        })
    }

    /// Every room. Nothing is written for that, so it works on a full disk.
    pub(super) fn load(&self, bounds: Bounds) -> Result<Vec<Loaded>, BookError> {
        let batches = self.records.iter().map(|record| record.batch.as_slice());
        self.book.load(&Merged::of(batches)?, bounds)
    }

    /// Begins to write.
    pub(super) fn start(self, rooms: Arc<Rooms>) -> io::Result<Disk> {
        let keeper = Keeper::start(self.book, self.mark.written, self.records, rooms)?;
        Ok(Disk {
            directory: self.directory,
            journal: self.journal,
            keeper,
        })
    }
}

/// The files, open for writing. When this is dropped, the book has all that the journal has.
#[derive(Debug)]
pub(super) struct Disk {
    directory: PathBuf,
    journal: Journal,
    keeper: Keeper,
}

impl Disk {
    /// Opens the files once more, after an error of this process's own. They are only good if all that waits can be
    /// written to the book.
    pub(super) fn reopen(directory: &Path, rooms: Arc<Rooms>) -> Result<Self, DiskError> {
        let files = Files::with(Book::reopen(&directory.join(BOOK))?, directory)?;
        let mut disk = files.start(rooms).map_err(JournalError::Io)?;
        disk.write_through(Batch::default())?;
        Ok(disk)
    }

    /// Closes the files. After an error redb answers nothing else until it is opened anew.
    pub(super) fn close(self) -> PathBuf {
        self.directory
    }

    /// Writes a batch and returns once it is on the disk.
    pub(super) fn commit(&mut self, batch: Batch) -> Result<(), DiskError> {
        let mut written = self.keeper.written()?;
        if batch.is_empty() {
            return Ok(());
        }
        self.journal.forget(written);
        let length = batch.bytes().len();
        if length > journal::BATCH_MAX {
            return self.write_through(batch);
        }
        while !self.journal.has_room(length) {
            written = self.keeper.wait_for_more_than(written)?;
            self.journal.forget(written);
        }
        let number = self
            .journal
            .append(batch.bytes())
            .map_err(JournalError::Io)?;
        let batch = batch.into_bytes();
        self.keeper.give(Record { number, batch });
        if self.journal.used() > HURRY_FROM {
            self.keeper.hurry();
        }
        Ok(())
    }

    /// Writes a batch to the book, behind all that waits for it.
    fn write_through(&mut self, batch: Batch) -> Result<(), DiskError> {
        let before = self.journal.skip();
        let (number, batch) = (before + 1, batch.into_bytes());
        self.keeper.give(Record { number, batch });
        self.keeper.wait_for_more_than(before)?;
        Ok(())
    }
}
