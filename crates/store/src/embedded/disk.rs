//! The file: a table of places for each room, by ordinal, and one table for all the rest.
//!
//! Places have a table of their own so that a join appends at its end: anywhere else, every page would be
//! split in halves and the file would be twice as large. Keys of the rest: room number (4 bytes), kind (1
//! byte), then what the kind says, all big endian, so that rows of a kind are in rising order. Rows hold the
//! present state of a thing, never its history, so the file follows the line. redb writes a transaction to pages that nothing else uses and then switches to it, with
//! checksums: after a crash it is there as a whole or not at all.

use std::{
    collections::BTreeMap,
    io,
    ops::{Range, RangeInclusive},
    path::{Path, PathBuf},
};

use redb::{Database, Durability, ReadTransaction, ReadableDatabase, TableDefinition, TableError};
use ropeline_core::{
    Bits, Block, Bounds, Header, JoinKey, Live, Ordinal, Pass, Room, RoomId, Saved, SavedPlace,
    Timestamp, Visitor,
};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::Freeze;

/// A room's number in the file.
pub(super) type RoomNumber = u32;

const ROWS: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("rooms");
type PlaceTable<'a> = TableDefinition<'a, u64, &'static [u8]>;
/// Everything is in memory already; the cache only has to hold what a commit touches.
const CACHE_BYTES: usize = 32 << 20;
/// A file smaller than this is never worth compacting.
const COMPACT_MIN_BYTES: u64 = 64 << 20;
/// With more live places than this, compacting would hold up joins.
const COMPACT_PLACES_MAX: u64 = 50_000;
/// Version of the layout.
const LAYOUT: u32 = 1;

/// Why the file could not be used.
#[derive(Debug, Error)]
pub(super) enum DiskError {
    /// The file system refused.
    #[error("{0}")]
    Io(io::Error),
    /// What is in the file does not make sense.
    #[error("{0}")]
    Damaged(String),
}

impl<E: Into<redb::Error>> From<E> for DiskError {
    fn from(error: E) -> Self {
        match error.into() {
            redb::Error::Io(error) => Self::Io(error),
            redb::Error::PreviousIo => Self::Io(io::Error::other("an earlier write failed")),
            error => Self::Damaged(error.to_string()),
        }
    }
}

/// The kinds of rows.
#[derive(Debug, Clone, Copy)]
#[repr(u8)]
pub(super) enum Kind {
    Header = 0,
    Gone = 1,
    Done = 2,
    Seen = 3,
    Key = 4,
    Imported = 5,
    Claimed = 6,
}

/// What is written of a room beside its places.
#[derive(Debug, Serialize, Deserialize)]
struct HeaderRow<'a> {
    layout: u32,
    room: std::borrow::Cow<'a, RoomId>,
    header: std::borrow::Cow<'a, Header>,
    /// Why the room takes no change, if it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    frozen: Option<String>,
}

/// A room of the file.
#[derive(Debug)]
pub(super) struct Loaded {
    pub(super) name: RoomId,
    pub(super) number: RoomNumber,
    pub(super) room: Room,
    pub(super) frozen: Option<Freeze>,
}

/// Rows of one transaction.
#[derive(Debug, Default)]
pub(super) struct Batch {
    bytes: Vec<u8>,
    rows: Vec<(Range<usize>, Range<usize>)>,
    places: BTreeMap<RoomNumber, PlaceRows>,
    purges: Vec<RangeInclusive<Vec<u8>>>,
}

/// Places of one room: those up to `purge` are removed first, then each row is written, or removed if it
/// has no value.
#[derive(Debug, Default)]
struct PlaceRows {
    purge: Option<Ordinal>,
    rows: Vec<(Ordinal, Option<Range<usize>>)>,
}

impl Batch {
    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.places.is_empty() && self.purges.is_empty()
    }

    pub(super) fn header(
        &mut self,
        number: RoomNumber,
        room: &RoomId,
        header: &Header,
        frozen: Option<&Freeze>,
    ) {
        use std::borrow::Cow::Borrowed;
        let row = HeaderRow {
            layout: LAYOUT,
            room: Borrowed(room),
            header: Borrowed(header),
            frozen: frozen.map(Freeze::text),
        };
        self.row(number, Kind::Header, &[], |bytes| {
            serde_json::to_writer(bytes, &row).expect("a header is plain data");
        });
    }

    /// A live place, or `None` where it has ended.
    pub(super) fn place(
        &mut self,
        number: RoomNumber,
        ordinal: Ordinal,
        place: Option<(&str, Live)>,
    ) {
        let value = place.map(|(visitor, live)| {
            let start = self.bytes.len();
            write_place(&mut self.bytes, visitor, live);
            start..self.bytes.len()
        });
        self.places
            .entry(number)
            .or_default()
            .rows
            .push((ordinal, value));
    }

    /// Removes every place up to an ordinal.
    pub(super) fn purge_places(&mut self, number: RoomNumber, last: Ordinal) {
        self.places.entry(number).or_default().purge = Some(last);
    }

    /// Removes all that is written of a room, but for its header.
    pub(super) fn purge_room(&mut self, number: RoomNumber) {
        self.purge_places(number, Ordinal(u64::MAX));
        let kinds = [Kind::Gone, Kind::Done, Kind::Imported, Kind::Claimed];
        for kind in kinds.into_iter().chain([Kind::Seen, Kind::Key]) {
            self.purge(number, kind, u64::MAX);
        }
    }

    /// Removes all that is written of a room, and its header.
    pub(super) fn forget_room(&mut self, number: RoomNumber) {
        self.purge_room(number);
        let header = prefix(number, Kind::Header).to_vec();
        self.purges.push(header.clone()..=header);
    }

    pub(super) fn block(&mut self, number: RoomNumber, kind: Kind, at: &[u64], block: &Block) {
        self.row(number, kind, at, |bytes| {
            for word in block {
                bytes.extend_from_slice(&word.to_be_bytes());
            }
        });
    }

    pub(super) fn join_key(&mut self, number: RoomNumber, round: u64, key: JoinKey) {
        let (high, low) = halves(key.key);
        self.row(number, Kind::Key, &[round, high, low], |bytes| {
            bytes.extend_from_slice(&key.body.to_be_bytes());
        });
    }

    /// Removes every row of a kind whose first part is at most `last`.
    pub(super) fn purge(&mut self, number: RoomNumber, kind: Kind, last: u64) {
        let mut start = prefix(number, kind).to_vec();
        let mut end = start.clone();
        start.extend_from_slice(&[0; 8]);
        end.extend_from_slice(&last.to_be_bytes());
        end.extend_from_slice(&[0xff; 16]);
        self.purges.push(start..=end);
    }

    fn row(
        &mut self,
        number: RoomNumber,
        kind: Kind,
        at: &[u64],
        value: impl FnOnce(&mut Vec<u8>),
    ) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(&prefix(number, kind));
        for part in at {
            self.bytes.extend_from_slice(&part.to_be_bytes());
        }
        let middle = self.bytes.len();
        value(&mut self.bytes);
        self.rows.push((start..middle, middle..self.bytes.len()));
    }
}

/// The open file.
#[derive(Debug)]
pub(super) struct Disk {
    path: PathBuf,
    database: Database,
    /// A file smaller than this is not worth compacting: twice the length after the last time, so that it is
    /// not tried again for nothing.
    compact_from: u64,
}

impl Disk {
    /// Opens or makes the file, and checks all of it.
    pub(super) fn open(path: &Path) -> Result<Self, DiskError> {
        let mut disk = Self::reopen(path)?;
        // After a clean stop redb trusts the file; a bit that flipped since would go unnoticed.
        if !disk.database.check_integrity()? {
            return Err(damaged("its checksums do not match"));
        }
        Ok(disk)
    }

    /// Opens the file once more, after an error of this process's own.
    pub(super) fn reopen(path: &Path) -> Result<Self, DiskError> {
        let database = Database::builder()
            .set_cache_size(CACHE_BYTES)
            .create(path)?;
        Ok(Self {
            path: path.to_owned(),
            database,
            compact_from: COMPACT_MIN_BYTES,
        })
    }

    /// Closes the file. After an error redb answers nothing else until it is opened anew.
    pub(super) fn close(self) -> PathBuf {
        self.path
    }

    /// Writes a batch as one transaction and returns once it is on the disk.
    pub(super) fn commit(&self, batch: &Batch) -> Result<(), DiskError> {
        let mut transaction = self.database.begin_write()?;
        transaction.set_durability(Durability::Immediate)?;
        {
            let mut table = transaction.open_table(ROWS)?;
            for range in &batch.purges {
                let range = range.start().as_slice()..=range.end().as_slice();
                table.retain_in(range, |_, _| false)?;
            }
            for (key, value) in &batch.rows {
                table.insert(&batch.bytes[key.clone()], &batch.bytes[value.clone()])?;
            }
        }
        for (number, places) in &batch.places {
            let name = place_table(*number);
            let mut table = transaction.open_table(PlaceTable::new(&name))?;
            if let Some(last) = places.purge {
                table.retain_in(..=last.0, |_, _| false)?;
            }
            for (ordinal, value) in &places.rows {
                match value {
                    Some(value) => drop(table.insert(ordinal.0, &batch.bytes[value.clone()])?),
                    None => drop(table.remove(ordinal.0)?),
                }
            }
        }
        transaction.commit()?;
        Ok(())
    }

    /// Gives space back to the file system once the line is short, when that takes a moment only.
    pub(super) fn compact_if_nearly_empty(&mut self, places: u64) -> Result<(), DiskError> {
        if places > COMPACT_PLACES_MAX {
            return Ok(());
        }
        if self.length()? > self.compact_from {
            self.database.compact()?;
            self.compact_from = COMPACT_MIN_BYTES.max(self.length()? * 2);
        }
        Ok(())
    }

    fn length(&self) -> Result<u64, DiskError> {
        Ok(std::fs::metadata(&self.path).map_err(DiskError::Io)?.len())
    }

    /// Every room in the file.
    pub(super) fn load(&self, bounds: Bounds) -> Result<Vec<Loaded>, DiskError> {
        let transaction = self.database.begin_read()?;
        let table = match transaction.open_table(ROWS) {
            Err(TableError::TableDoesNotExist(_)) => return Ok(Vec::new()),
            table => table?,
        };
        let mut rooms = Vec::new();
        let mut next = 0;
        while let Some((number, header)) = next_header(&table, next)? {
            let row: HeaderRow<'_> = serde_json::from_slice(&header).map_err(damaged)?;
            if row.layout != LAYOUT {
                let layout = row.layout;
                return Err(damaged(format!(
                    "it has layout {layout}, this version reads {LAYOUT}"
                )));
            }
            let places = load_places(&transaction, number)?;
            let saved = load_room(&table, number, row.header.into_owned(), places)?;
            rooms.push(Loaded {
                name: row.room.into_owned(),
                number,
                room: Room::load(saved, bounds).map_err(damaged)?,
                frozen: row.frozen.as_deref().map(Freeze::of_text),
            });
            next = number + 1;
        }
        Ok(rooms)
    }
}

type Table = redb::ReadOnlyTable<&'static [u8], &'static [u8]>;

/// The first room at or after a number, with its header.
fn next_header(
    table: &Table,
    from: RoomNumber,
) -> Result<Option<(RoomNumber, Vec<u8>)>, DiskError> {
    let start = prefix(from, Kind::Header);
    let Some(row) = table.range(start.as_slice()..)?.next() else {
        return Ok(None);
    };
    let (key, value) = row?;
    let number = key.value().first_chunk().copied().map(u32::from_be_bytes);
    match number {
        Some(number) if key.value() == prefix(number, Kind::Header) => {
            Ok(Some((number, value.value().to_vec())))
        }
        _ => Err(damaged("a room has no header")),
    }
}

fn load_places(
    transaction: &ReadTransaction,
    number: RoomNumber,
) -> Result<Vec<SavedPlace>, DiskError> {
    let name = place_table(number);
    let table = match transaction.open_table(PlaceTable::new(&name)) {
        Err(TableError::TableDoesNotExist(_)) => return Ok(Vec::new()),
        table => table?,
    };
    let rows = table.range::<u64>(..)?.map(|row| {
        let (ordinal, value) = row?;
        parse_place(Ordinal(ordinal.value()), value.value())
            .ok_or_else(|| damaged(format!("place {} makes no sense", ordinal.value())))
    });
    rows.collect()
}

fn load_room(
    table: &Table,
    number: RoomNumber,
    header: Header,
    places: Vec<SavedPlace>,
) -> Result<Saved, DiskError> {
    let mut seen: Vec<(u64, Vec<(u64, Block)>)> = Vec::new();
    each(table, number, Kind::Seen, |parts, value| {
        let (round, block) = (part(parts, 0)?, (part(parts, 1)?, parse_block(value)?));
        match seen.last_mut() {
            Some((last, blocks)) if *last == round => blocks.push(block),
            _ => seen.push((round, vec![block])),
        }
        Some(())
    })?;
    let mut keys = Vec::new();
    each(table, number, Kind::Key, |parts, value| {
        let key = u128::from(part(parts, 1)?) << 64 | u128::from(part(parts, 2)?);
        let body = u64::from_be_bytes(value.try_into().ok()?);
        keys.push((part(parts, 0)?, JoinKey { key, body }));
        Some(())
    })?;
    Ok(Saved {
        header,
        places,
        gone: load_set(table, number, Kind::Gone)?,
        done: load_set(table, number, Kind::Done)?,
        imported: load_set(table, number, Kind::Imported)?,
        claimed: load_set(table, number, Kind::Claimed)?,
        seen: seen
            .into_iter()
            .map(|(round, bits)| (round, Bits::from_blocks(bits)))
            .collect(),
        keys,
    })
}

/// A set of ordinals. A file of a version that did not know it has an empty one.
fn load_set(table: &Table, number: RoomNumber, kind: Kind) -> Result<Bits, DiskError> {
    let mut blocks = Vec::new();
    each(table, number, kind, |parts, value| {
        blocks.push((part(parts, 0)?, parse_block(value)?));
        Some(())
    })?;
    Ok(Bits::from_blocks(blocks))
}

/// Calls `take` with what follows the prefix of each row of a kind; `None` means that it makes no sense.
fn each(
    table: &Table,
    number: RoomNumber,
    kind: Kind,
    mut take: impl FnMut(&[u8], &[u8]) -> Option<()>,
) -> Result<(), DiskError> {
    let start = prefix(number, kind);
    let mut end = start.to_vec();
    end.extend_from_slice(&[0xff; 24]);
    for row in table.range(start.as_slice()..=end.as_slice())? {
        let (key, value) = row?;
        take(&key.value()[start.len()..], value.value())
            .ok_or_else(|| damaged(format!("row {:?} makes no sense", key.value())))?;
    }
    Ok(())
}

fn write_place(bytes: &mut Vec<u8>, visitor: &str, live: Live) {
    match live {
        Live::InLine => bytes.push(0),
        Live::AtDoor => bytes.push(1),
        Live::Aside(until) => {
            bytes.push(2);
            bytes.extend_from_slice(&until.0.to_be_bytes());
        }
        Live::Inside(pass) => {
            bytes.push(3);
            bytes.extend_from_slice(&pass.expires_at.0.to_be_bytes());
            bytes.extend_from_slice(&pass.since.0.to_be_bytes());
        }
    }
    bytes.extend_from_slice(visitor.as_bytes());
}

fn parse_place(ordinal: Ordinal, value: &[u8]) -> Option<SavedPlace> {
    let (tag, rest) = value.split_first()?;
    let (live, visitor) = match tag {
        0 => (Live::InLine, rest),
        1 => (Live::AtDoor, rest),
        2 => (Live::Aside(Timestamp(part(rest, 0)?)), rest.get(8..)?),
        3 => {
            let pass = Pass {
                expires_at: Timestamp(part(rest, 0)?),
                since: Timestamp(part(rest, 1)?),
            };
            (Live::Inside(pass), rest.get(16..)?)
        }
        _ => return None,
    };
    let visitor = Visitor::parse(std::str::from_utf8(visitor).ok()?).ok()?;
    Some(SavedPlace {
        ordinal,
        visitor,
        live,
    })
}

fn parse_block(value: &[u8]) -> Option<Block> {
    let mut block = Block::default();
    for (at, word) in block.iter_mut().enumerate() {
        *word = part(value, at)?;
    }
    (value.len() == block.len() * 8).then_some(block)
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the halves are taken apart on purpose"
)]
fn halves(key: u128) -> (u64, u64) {
    ((key >> 64) as u64, key as u64)
}

/// The number in the eight bytes at position `at`.
fn part(bytes: &[u8], at: usize) -> Option<u64> {
    let bytes = bytes.get(at * 8..at * 8 + 8)?;
    Some(u64::from_be_bytes(bytes.try_into().ok()?))
}

fn place_table(number: RoomNumber) -> String {
    format!("places-{number}")
}

fn prefix(number: RoomNumber, kind: Kind) -> [u8; 5] {
    let [a, b, c, d] = number.to_be_bytes();
    [a, b, c, d, kind as u8]
}

fn damaged(cause: impl std::fmt::Display) -> DiskError {
    DiskError::Damaged(format!("{cause}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn space_is_given_back_once_a_long_line_has_gone() {
        let directory = tempfile::tempdir().unwrap();
        let mut disk = Disk::open(&directory.path().join("rooms.redb")).unwrap();
        let visitor = format!("u:{}", "x".repeat(128));
        let mut batch = Batch::default();
        for ordinal in 1..=40_000 {
            batch.place(0, Ordinal(ordinal), Some((&visitor, Live::InLine)));
        }
        disk.commit(&batch).unwrap();
        let long = disk.length().unwrap();
        let mut batch = Batch::default();
        batch.purge_places(0, Ordinal(39_999));
        disk.commit(&batch).unwrap();
        disk.compact_from = long / 2;
        disk.compact_if_nearly_empty(COMPACT_PLACES_MAX + 1)
            .unwrap();
        assert_eq!(disk.length().unwrap(), long, "not while many are live");
        disk.compact_if_nearly_empty(1).unwrap();
        let short = disk.length().unwrap();
        assert!(short < long / 4, "{short} of {long}");
        let places = load_places(&disk.database.begin_read().unwrap(), 0).unwrap();
        assert_eq!(places.len(), 1, "who is left is still there");
    }
}
