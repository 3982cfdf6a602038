//! Rooms, made of what was written of them.

use std::{collections::BTreeMap, ops::Bound};

use redb::{ReadOnlyTable, ReadTransaction, TableError};
use ropeline_core::{
    Bits, Block, Bounds, Header, JoinKey, Live, Ordinal, Pass, Room, RoomId, Saved, SavedPlace,
    Timestamp, Visitor,
};

use super::{
    book::{BookError, PlaceTable, ROWS, broken, place_table},
    merged::Merged,
    rows::{HeaderRow, Kind, LAYOUT, RoomNumber, prefix},
};
use crate::Freeze;

/// A room of the file.
#[derive(Debug)]
pub(super) struct Loaded {
    pub(super) name: RoomId,
    pub(super) number: RoomNumber,
    pub(super) room: Room,
    pub(super) frozen: Option<Freeze>,
}

type Table = ReadOnlyTable<&'static [u8], &'static [u8]>;

/// Every room of a book, with what its journal has beyond it.
pub(super) fn rooms(
    book: &ReadTransaction,
    newer: &Merged<'_>,
    bounds: Bounds,
) -> Result<Vec<Loaded>, BookError> {
    let table = match book.open_table(ROWS) {
        Err(TableError::TableDoesNotExist(_)) => None,
        table => Some(table.map_err(broken)?),
    };
    let source = Source { book, table, newer };
    let headers = source.headers()?.into_iter();
    headers
        .map(|(number, header)| source.room(number, &header, bounds))
        .collect()
}

/// Where rows come from.
struct Source<'a> {
    book: &'a ReadTransaction,
    table: Option<Table>,
    /// What counts in the place of older rows.
    newer: &'a Merged<'a>,
}

impl Source<'_> {
    fn headers(&self) -> Result<BTreeMap<RoomNumber, Vec<u8>>, BookError> {
        let mut headers = BTreeMap::new();
        let mut from = 0;
        while let Some((number, header)) = self.next_header(from)? {
            if !self.newer.replaces_row(&prefix(number, Kind::Header)) {
                headers.insert(number, header);
            }
            from = number + 1;
        }
        for (key, header) in &self.newer.rows {
            if let Some(number) = header_of(key) {
                headers.insert(number, header.to_vec());
            }
        }
        Ok(headers)
    }

    /// The first room of the book at or after a number, with its header.
    fn next_header(&self, from: RoomNumber) -> Result<Option<(RoomNumber, Vec<u8>)>, BookError> {
        let Some(table) = &self.table else {
            return Ok(None);
        };
        let start = prefix(from, Kind::Header);
        let mut rows = table.range(start.as_slice()..).map_err(broken)?;
        let Some(row) = rows.next() else {
            return Ok(None);
        };
        let (key, value) = row.map_err(broken)?;
        let number = header_of(key.value());
        let number = number.ok_or_else(|| BookError::damaged("a room has no header"))?;
        Ok(Some((number, value.value().to_vec())))
    }

    fn room(&self, number: RoomNumber, header: &[u8], bounds: Bounds) -> Result<Loaded, BookError> {
        let row: HeaderRow<'_> = serde_json::from_slice(header).map_err(BookError::damaged)?;
        if row.layout != LAYOUT {
            let layout = row.layout;
            return Err(BookError::damaged(format!(
                "it has layout {layout}, this version reads {LAYOUT}"
            )));
        }
        let saved = self.saved(number, row.header.into_owned())?;
        Ok(Loaded {
            name: row.room.into_owned(),
            number,
            room: Room::load(saved, bounds).map_err(BookError::damaged)?,
            frozen: row.frozen.as_deref().map(Freeze::of_text),
        })
    }

    fn saved(&self, number: RoomNumber, header: Header) -> Result<Saved, BookError> {
        let mut seen: Vec<(u64, Vec<(u64, Block)>)> = Vec::new();
        self.each(number, Kind::Seen, |parts, value| {
            let (round, block) = (part(parts, 0)?, (part(parts, 1)?, parse_block(value)?));
            match seen.last_mut() {
                Some((last, blocks)) if *last == round => blocks.push(block),
                _ => seen.push((round, vec![block])),
            }
            Some(())
        })?;
        let mut keys = Vec::new();
        self.each(number, Kind::Key, |parts, value| {
            let key = u128::from(part(parts, 1)?) << 64 | u128::from(part(parts, 2)?);
            let body = u64::from_be_bytes(value.try_into().ok()?);
            keys.push((part(parts, 0)?, JoinKey { key, body }));
            Some(())
        })?;
        Ok(Saved {
            header,
            places: self.places(number)?,
            gone: self.set(number, Kind::Gone)?,
            done: self.set(number, Kind::Done)?,
            imported: self.set(number, Kind::Imported)?,
            claimed: self.set(number, Kind::Claimed)?,
            seen: seen
                .into_iter()
                .map(|(round, bits)| (round, Bits::from_blocks(bits)))
                .collect(),
            keys,
        })
    }

    fn places(&self, number: RoomNumber) -> Result<Vec<SavedPlace>, BookError> {
        let newer = self.newer.places.get(&number);
        let mut places = self.older_places(number)?;
        let live = newer.into_iter().flat_map(|newer| &newer.rows);
        for (ordinal, value) in live.filter_map(|(ordinal, value)| Some((*ordinal, (*value)?))) {
            places.push(place(ordinal, value)?);
        }
        Ok(places)
    }

    /// The places in the book that count still.
    fn older_places(&self, number: RoomNumber) -> Result<Vec<SavedPlace>, BookError> {
        let name = place_table(number);
        let table = match self.book.open_table(PlaceTable::new(&name)) {
            Err(TableError::TableDoesNotExist(_)) => return Ok(Vec::new()),
            table => table.map_err(broken)?,
        };
        let newer = self.newer.places.get(&number);
        let rows = table.range::<u64>(..).map_err(broken)?;
        rows.filter_map(|row| {
            let (ordinal, value) = match row.map_err(broken) {
                Ok((ordinal, value)) => (Ordinal(ordinal.value()), value),
                Err(error) => return Some(Err(error)),
            };
            let replaced = newer.is_some_and(|newer| newer.replaces(ordinal));
            (!replaced).then(|| place(ordinal, value.value()))
        })
        .collect()
    }

    /// A set of ordinals. A file of a version that did not know it has an empty one.
    fn set(&self, number: RoomNumber, kind: Kind) -> Result<Bits, BookError> {
        let mut blocks = Vec::new();
        self.each(number, kind, |parts, value| {
            blocks.push((part(parts, 0)?, parse_block(value)?));
            Some(())
        })?;
        Ok(Bits::from_blocks(blocks))
    }

    /// Calls `take` with what follows the prefix of each row of a kind, in rising order; `None` means that it
    /// makes no sense.
    fn each(
        &self,
        number: RoomNumber,
        kind: Kind,
        mut take: impl FnMut(&[u8], &[u8]) -> Option<()>,
    ) -> Result<(), BookError> {
        let start = prefix(number, kind);
        let mut take = |key: &[u8], value: &[u8]| {
            take(&key[start.len()..], value)
                .ok_or_else(|| BookError::damaged(format!("row {key:?} makes no sense")))
        };
        let mut end = start.to_vec();
        end.extend_from_slice(&[0xff; 24]);
        let (first, last) = (start.as_slice(), end.as_slice());
        let range = (Bound::Included(first), Bound::Included(last));
        let mut newer = self.newer.rows.range::<[u8], _>(range).peekable();
        if let Some(table) = &self.table {
            for row in table.range(first..=last).map_err(broken)? {
                let (key, value) = row.map_err(broken)?;
                let key = key.value();
                while let Some((key, value)) = newer.next_if(|(newer, _)| **newer < key) {
                    take(key, value)?;
                }
                if !self.newer.replaces_row(key) {
                    take(key, value.value())?;
                }
            }
        }
        newer.try_for_each(|(key, value)| take(key, value))
    }
}

/// The room whose header has this key, if it is one's.
fn header_of(key: &[u8]) -> Option<RoomNumber> {
    let number = RoomNumber::from_be_bytes(*key.first_chunk()?);
    (key == prefix(number, Kind::Header)).then_some(number)
}

fn place(ordinal: Ordinal, value: &[u8]) -> Result<SavedPlace, BookError> {
    parse_place(ordinal, value)
        .ok_or_else(|| BookError::damaged(format!("place {ordinal} makes no sense")))
}

fn parse_place(ordinal: Ordinal, value: &[u8]) -> Option<SavedPlace> {
    let (tag, rest) = value.split_first()?;
    let (live, visitor) = match tag {
        0 => (Live::InLine, rest),
        1 => (Live::AtDoor { before: 0 }, rest),
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

/// The number in the eight bytes at position `at`.
fn part(bytes: &[u8], at: usize) -> Option<u64> {
    let bytes = bytes.get(at * 8..at * 8 + 8)?;
    Some(u64::from_be_bytes(bytes.try_into().ok()?))
}
