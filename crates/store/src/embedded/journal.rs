//! The journal: what was written last, in a file that is synced before anybody is answered.
//!
//! A ring of a fixed length that is written over and over, so that a sync has nothing but the record to write: no
//! length, no new blocks. That costs a third of what a transaction of the book costs. Records follow each other
//! by number. One that the book has may be written over; one that it has not is read again on the next start.
//!
//! A record begins at a sector: checksum (8 bytes), number (8), length (4), then the batch. The checksum begins with
//! the book's seed, so that a record of another book is none.

use std::{
    collections::VecDeque, fs::File, io, ops::Range, os::unix::fs::FileExt as _, path::Path,
};

use thiserror::Error;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::{
    book::Mark,
    journal_file::{self, LENGTH},
};

const SECTOR: usize = 512;
const HEAD: usize = 20;
/// What memory begins at that disks fetch from.
const PAGE: usize = 4_096;
/// Batches larger than this go straight to the book.
pub(super) const BATCH_MAX: usize = LENGTH / 4;

/// Why a journal could not be used.
#[derive(Debug, Error)]
pub(super) enum JournalError {
    /// The file system refused.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// Records are missing before others that are there.
    #[error("record {missing} is not whole, though later ones are")]
    Damaged {
        /// The first that is missing.
        missing: u64,
    },
    /// The file lost its end.
    #[error("it was cut short: it has {length} bytes instead of {LENGTH}")]
    Short {
        /// What is left, in bytes.
        length: usize,
    },
}

/// A batch with its number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) number: u64,
    pub(super) batch: Vec<u8>,
}

/// The open file.
#[derive(Debug)]
pub(super) struct Journal {
    file: File,
    /// The same file, past the system's own copy of it: what was written is on the disk.
    direct: Option<File>,
    length: usize,
    seed: u64,
    /// Where the next record begins.
    at: usize,
    next: u64,
    /// Number and start of the records that the book has not, oldest first.
    kept: VecDeque<(u64, usize)>,
    /// The record that is being written.
    buffer: Aligned,
}

impl Journal {
    /// Opens or makes the file; also gives the records that the book has not.
    pub(super) fn open(path: &Path, mark: Mark) -> Result<(Self, Vec<Record>), JournalError> {
        let (file, bytes) = journal_file::open(path, mark)?;
        let found = find(&bytes, mark)?;
        let last = found.last();
        let journal = Self {
            file,
            direct: open_direct(path),
            length: bytes.len(),
            seed: mark.seed,
            at: last.map_or(0, |(at, record)| at + sectors(record.batch.len())),
            next: last.map_or(mark.written, |(_, record)| record.number) + 1,
            kept: found
                .iter()
                .map(|(at, record)| (record.number, *at))
                .collect(),
            buffer: Aligned::default(),
        };
        Ok((
            journal,
            found.into_iter().map(|(_, record)| record).collect(),
        ))
    }

    /// Leaves out a number, for a batch that goes straight to the book; says which is before it.
    pub(super) fn skip(&mut self) -> u64 {
        self.next += 1;
        self.next - 2
    }

    /// Lets records be written over that the book has.
    pub(super) fn forget(&mut self, written: u64) {
        while self
            .kept
            .front()
            .is_some_and(|(number, _)| *number <= written)
        {
            self.kept.pop_front();
        }
    }

    /// Whether a batch can be written without writing over a record that the book has not.
    pub(super) fn has_room(&self, batch: usize) -> bool {
        self.start(batch).is_some()
    }

    /// How much of the file is in use.
    pub(super) fn used(&self) -> usize {
        match self.kept.front() {
            None => 0,
            Some((_, oldest)) if *oldest < self.at => self.at - oldest,
            Some((_, oldest)) => self.length - oldest + self.at,
        }
    }

    /// Where a batch would begin: behind the last one, or at the beginning of the file.
    fn start(&self, batch: usize) -> Option<usize> {
        let needed = sectors(batch);
        let fits = |from: usize, to: usize| to.checked_sub(from).is_some_and(|free| needed <= free);
        match self.kept.front() {
            Some((_, oldest)) if *oldest >= self.at => fits(self.at, *oldest).then_some(self.at),
            _ if fits(self.at, self.length) => Some(self.at),
            oldest => fits(0, oldest.map_or(self.length, |(_, oldest)| *oldest)).then_some(0),
        }
    }

    /// Writes a batch and returns once it is on the disk. There must be room for it. After an error the journal is to
    /// be opened anew: whether the record is there is not known.
    pub(super) fn append(&mut self, batch: &[u8]) -> io::Result<u64> {
        let full = || io::Error::new(io::ErrorKind::StorageFull, "the journal is full");
        let start = self.start(batch.len()).ok_or_else(full)?;
        self.lay_out(batch);
        self.write(start as u64)?;
        let number = self.next;
        self.kept.push_back((number, start));
        self.at = start + sectors(batch.len());
        self.next += 1;
        Ok(number)
    }

    fn lay_out(&mut self, batch: &[u8]) {
        let length = u32::try_from(batch.len()).expect("a larger batch goes to the book");
        let record = self.buffer.of(sectors(batch.len()));
        record[8..16].copy_from_slice(&self.next.to_be_bytes());
        record[16..HEAD].copy_from_slice(&length.to_be_bytes());
        record[HEAD..HEAD + batch.len()].copy_from_slice(batch);
        record[HEAD + batch.len()..].fill(0);
        let checksum = xxh3_64_with_seed(&record[8..HEAD + batch.len()], self.seed);
        record[..8].copy_from_slice(&checksum.to_be_bytes());
    }

    fn write(&mut self, start: u64) -> io::Result<()> {
        if let Some(direct) = &self.direct {
            match direct.write_all_at(self.buffer.bytes(), start) {
                // A disk with larger sectors takes none of ours.
                Err(error) if error.kind() == io::ErrorKind::InvalidInput => self.direct = None,
                written => return written,
            }
        }
        self.file.write_all_at(self.buffer.bytes(), start)?;
        self.file.sync_data()
    }
}

/// Memory from which a disk can fetch a record by itself.
#[derive(Debug, Default)]
struct Aligned {
    memory: Vec<u8>,
    record: Range<usize>,
}

impl Aligned {
    /// As many bytes, of any content.
    fn of(&mut self, length: usize) -> &mut [u8] {
        if self.memory.len() < length + PAGE {
            self.memory.resize(length + PAGE, 0);
        }
        let start = self.memory.as_ptr().align_offset(PAGE).min(PAGE);
        self.record = start..start + length;
        &mut self.memory[self.record.clone()]
    }

    fn bytes(&self) -> &[u8] {
        &self.memory[self.record.clone()]
    }
}

/// Writing and syncing in one call takes half as much of the processor, where the file system knows of it.
#[cfg(target_os = "linux")]
fn open_direct(path: &Path) -> Option<File> {
    use std::os::unix::fs::OpenOptionsExt as _;

    use rustix::fs::OFlags;

    let flags = (OFlags::DIRECT | OFlags::DSYNC | OFlags::NOFOLLOW).bits();
    let mut options = File::options();
    let options = options.write(true).custom_flags(flags.cast_signed());
    options.open(path).ok()
}

#[cfg(not(target_os = "linux"))]
fn open_direct(_: &Path) -> Option<File> {
    None
}

/// What a batch takes in the file.
fn sectors(batch: usize) -> usize {
    (HEAD + batch).next_multiple_of(SECTOR)
}

/// The records that the book has not, in order, with where they are. The last one may have been cut off by a crash;
/// nobody was told of it.
fn find(bytes: &[u8], mark: Mark) -> Result<Vec<(usize, Record)>, JournalError> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
        let record = parse(rest, mark, bytes.len() / SECTOR);
        let step = record
            .as_ref()
            .map_or(SECTOR, |record| sectors(record.batch.len()));
        found.extend(record.map(|record| (at, record)));
        at += step;
    }
    found.sort_by_key(|(_, record)| record.number);
    for ((_, record), expected) in found.iter().zip(mark.written + 1..) {
        if record.number != expected {
            return Err(JournalError::Damaged { missing: expected });
        }
    }
    Ok(found)
}

/// The record that begins here, if one does that the book has not. The file has space for `records_max`.
fn parse(bytes: &[u8], mark: Mark, records_max: usize) -> Option<Record> {
    let (checksum, rest) = bytes.split_first_chunk()?;
    let (number, after) = rest.split_first_chunk()?;
    let (length, after) = after.split_first_chunk()?;
    let number = u64::from_be_bytes(*number);
    // Anything else is older, so its checksum does not matter.
    let ahead = number.checked_sub(mark.written)?;
    if ahead == 0 || ahead > records_max as u64 {
        return None;
    }
    let length = usize::try_from(u32::from_be_bytes(*length)).ok()?;
    let batch = after.get(..length)?;
    let summed = rest.get(..HEAD - 8 + length)?;
    let whole = xxh3_64_with_seed(summed, mark.seed) == u64::from_be_bytes(*checksum);
    whole.then(|| Record {
        number,
        batch: batch.to_vec(),
    })
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    const NEW: Mark = Mark {
        seed: 77,
        written: 0,
    };

    fn written(written: u64) -> Mark {
        Mark { written, ..NEW }
    }

    /// A journal in a directory of its own, with records of these lengths.
    fn with(lengths: &[usize]) -> (tempfile::TempDir, PathBuf, Journal) {
        let directory = tempfile::tempdir_in("/dev/shm")
            .or_else(|_| tempfile::tempdir())
            .unwrap();
        let path = directory.path().join("rooms.journal");
        let (mut journal, records) = Journal::open(&path, NEW).unwrap();
        assert!(records.is_empty());
        for length in lengths {
            append(&mut journal, *length);
        }
        (directory, path, journal)
    }

    /// A record whose bytes say its number.
    fn append(journal: &mut Journal, length: usize) {
        let batch = batch(journal.next, length);
        journal.append(&batch).unwrap();
    }

    fn batch(number: u64, length: usize) -> Vec<u8> {
        number
            .to_be_bytes()
            .into_iter()
            .cycle()
            .take(length)
            .collect()
    }

    fn numbers(path: &Path, mark: Mark) -> Vec<u64> {
        let (_, records) = Journal::open(path, mark).unwrap();
        for record in &records {
            assert_eq!(record.batch, batch(record.number, record.batch.len()));
        }
        records.iter().map(|record| record.number).collect()
    }

    #[test]
    fn what_was_written_is_read_again_but_for_what_the_book_has() {
        let (_directory, path, _) = with(&[10, 492, 493, 5_000]);
        assert_eq!(numbers(&path, NEW), [1, 2, 3, 4]);
        assert_eq!(numbers(&path, written(3)), [4]);
        assert!(numbers(&path, written(4)).is_empty());
    }

    /// Nothing here can cut the power, so this is all that would notice records that are only on their way to the disk.
    #[cfg(target_os = "linux")]
    #[test]
    fn what_is_written_directly_is_synced_with_the_same_call() {
        use rustix::fs::{OFlags, fcntl_getfl};

        let directory = tempfile::tempdir().unwrap();
        let (journal, _) = Journal::open(&directory.path().join("rooms.journal"), NEW).unwrap();
        // Where a file system refuses, `write` syncs by itself.
        if let Some(direct) = journal.direct {
            let flags = fcntl_getfl(direct).unwrap();
            assert!(flags.contains(OFlags::DIRECT | OFlags::DSYNC), "{flags:?}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_disk_that_refuses_to_be_written_directly_is_written_otherwise() {
        let (_directory, path, mut journal) = with(&[10]);
        // A file that takes nothing but a number.
        let stubborn = File::options().write(true).open("/proc/self/oom_score_adj");
        journal.direct = Some(stubborn.unwrap());
        append(&mut journal, 700);
        assert!(journal.direct.is_none());
        append(&mut journal, 700);
        assert_eq!(numbers(&path, NEW), [1, 2, 3]);
    }

    #[test]
    fn a_journal_of_another_book_has_nothing() {
        let (_directory, path, _) = with(&[10]);
        assert!(numbers(&path, Mark { seed: 78, ..NEW }).is_empty());
    }

    #[test]
    fn the_ring_goes_round_and_never_over_what_the_book_has_not() {
        let (_directory, path, mut journal) = with(&[]);
        let mut book = 0;
        for step in 0..200_usize {
            let length = 1 + step * 7_919 % BATCH_MAX;
            while !journal.has_room(length) {
                assert!(journal.used() > LENGTH / 2, "there was room");
                book += 1;
                journal.forget(book);
            }
            append(&mut journal, length);
            if step % 20 == 0 {
                let kept: Vec<_> = (book + 1..journal.next).collect();
                assert_eq!(numbers(&path, written(book)), kept);
            }
        }
        assert!(journal.append(&vec![0; LENGTH]).is_err());
    }

    #[test]
    fn a_longer_file_than_we_make_is_used_and_read_whole() {
        let (_directory, path, journal) = with(&[]);
        drop(journal);
        std::fs::write(&path, vec![0; 2 * LENGTH]).unwrap();
        let (mut journal, _) = Journal::open(&path, NEW).unwrap();
        let count = (LENGTH / SECTOR + 100) as u64;
        for _ in 0..count {
            append(&mut journal, 10);
        }
        assert_eq!(numbers(&path, NEW), (1..=count).collect::<Vec<_>>());
    }

    #[test]
    fn a_journal_goes_on_where_it_was() {
        let (_directory, path, journal) = with(&[600, 600]);
        drop(journal);
        let (mut journal, _) = Journal::open(&path, written(1)).unwrap();
        append(&mut journal, 600);
        assert_eq!(numbers(&path, written(1)), [2, 3]);
        drop(journal);
        let (mut journal, _) = Journal::open(&path, written(3)).unwrap();
        append(&mut journal, 600);
        assert_eq!(numbers(&path, written(3)), [4]);
    }

    #[test]
    fn a_last_record_that_was_cut_off_is_none_and_any_other_stops_the_start() {
        let (_directory, path, _) = with(&[700, 700, 700]);
        let whole = std::fs::read(&path).unwrap();
        let size = sectors(700);
        for at in 0..3 * size {
            let (record, within) = (at / size, at % size);
            if within >= HEAD + 700 {
                continue;
            }
            let mut bytes = whole.clone();
            bytes[at] ^= 1;
            match (find(&bytes, NEW), record) {
                (Ok(found), 2) => assert_eq!(found.len(), 2),
                (Err(JournalError::Damaged { missing }), 0 | 1) => {
                    assert_eq!(missing, record as u64 + 1);
                }
                (found, _) => panic!("byte {at}: {found:?}"),
            }
        }
    }

    #[test]
    fn a_record_written_half_over_an_older_one_is_none() {
        let (_directory, path, mut journal) = with(&[3_000, 3_000]);
        journal.forget(2);
        let before = std::fs::read(&path).unwrap();
        journal.at = 0;
        append(&mut journal, 5_000);
        let after = std::fs::read(&path).unwrap();
        for cut in (0..sectors(5_000)).step_by(SECTOR) {
            let torn = [&after[..cut], &before[cut..]].concat();
            assert!(find(&torn, written(2)).unwrap().is_empty(), "{cut}");
        }
        assert_eq!(find(&after, written(2)).unwrap().len(), 1);
    }
}
