//! What is written of rooms: a table of places for each room, by ordinal, and one table for all the rest.
//!
//! Places have a table of their own so that a join appends at its end: anywhere else, every page would be
//! split in halves and the file would be twice as large. Keys of the rest: room number (4 bytes), kind (1
//! byte), then what the kind says, all big endian, so that rows of a kind are in rising order. Rows hold the
//! present state of a thing, never its history: writing one twice, or only the last of several, is the same.

use std::borrow::Cow;

use ropeline_core::{Block, Header, JoinKey, Live, Ordinal, RoomId, Timestamp};
use serde::{Deserialize, Serialize};

use crate::Freeze;

/// A room's number in the file.
pub(super) type RoomNumber = u32;

/// Version of the layout.
pub(super) const LAYOUT: u32 = 1;

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
pub(super) struct HeaderRow<'a> {
    pub(super) layout: u32,
    pub(super) room: Cow<'a, RoomId>,
    pub(super) header: Cow<'a, Header>,
    /// Why the room takes no change, if it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) frozen: Option<String>,
}

/// Changes that are written together, one after the other as they are to be made.
#[derive(Debug, Default)]
pub(super) struct Batch {
    bytes: Vec<u8>,
}

/// One change of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change<'a> {
    Row {
        key: &'a [u8],
        value: &'a [u8],
    },
    /// Removes all rows from the first to the last of these.
    PurgeRows {
        first: &'a [u8],
        last: &'a [u8],
    },
    /// A live place, or none where it has ended.
    Place {
        room: RoomNumber,
        ordinal: Ordinal,
        value: Option<&'a [u8]>,
    },
    /// Removes every place up to this one.
    PurgePlaces {
        room: RoomNumber,
        last: Ordinal,
    },
}

const ROW: u8 = 1;
const PURGE_ROWS: u8 = 2;
const PLACE: u8 = 3;
const NO_PLACE: u8 = 4;
const PURGE_PLACES: u8 = 5;
/// Where the parts of a place begin, behind its tag: room, ordinal, length of what follows, state, and the times that the
/// state has, at most two; then the visitor.
const AT_ROOM: usize = 1;
const AT_ORDINAL: usize = AT_ROOM + size_of::<RoomNumber>();
const AT_LENGTH: usize = AT_ORDINAL + size_of::<u64>();
const AT_STATE: usize = AT_LENGTH + size_of::<u32>();
const AT_TIME: usize = AT_STATE + 1;
const AT_SECOND_TIME: usize = AT_TIME + size_of::<u64>();
const PLACE_HEAD: usize = AT_SECOND_TIME + size_of::<u64>();
/// About what a place takes.
const PLACE_BYTES: usize = 72;
/// About what the rest takes that is written with them: a header, and a few blocks.
const REST_BYTES: usize = 2_048;

impl Batch {
    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Makes room for so many places at once, and for what comes with them.
    pub(super) fn reserve_places(&mut self, places: usize) {
        self.bytes.reserve(places * PLACE_BYTES + REST_BYTES);
    }

    pub(super) fn header(
        &mut self,
        number: RoomNumber,
        room: &RoomId,
        header: &Header,
        frozen: Option<&Freeze>,
    ) {
        let row = HeaderRow {
            layout: LAYOUT,
            room: Cow::Borrowed(room),
            header: Cow::Borrowed(header),
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
        // In one piece, since a tick writes thousands of these while nobody else has the room.
        let mut head = [0; PLACE_HEAD];
        head[AT_ROOM..AT_ORDINAL].copy_from_slice(&number.to_be_bytes());
        head[AT_ORDINAL..AT_LENGTH].copy_from_slice(&ordinal.0.to_be_bytes());
        let Some((visitor, live)) = place else {
            head[0] = NO_PLACE;
            self.bytes.extend_from_slice(&head[..AT_LENGTH]);
            return;
        };
        let none = Timestamp(0);
        let (state, times, end) = match live {
            Live::InLine => (0, [none, none], AT_TIME),
            Live::AtDoor { .. } => (1, [none, none], AT_TIME),
            Live::Aside(until) => (2, [until, none], AT_SECOND_TIME),
            Live::Inside(pass) => (3, [pass.expires_at, pass.since], PLACE_HEAD),
        };
        let length = u32::try_from(end - AT_STATE + visitor.len()).expect("a row is short");
        head[0] = PLACE;
        head[AT_LENGTH..AT_STATE].copy_from_slice(&length.to_be_bytes());
        head[AT_STATE] = state;
        head[AT_TIME..AT_SECOND_TIME].copy_from_slice(&times[0].0.to_be_bytes());
        head[AT_SECOND_TIME..].copy_from_slice(&times[1].0.to_be_bytes());
        self.bytes.extend_from_slice(&head[..end]);
        self.bytes.extend_from_slice(visitor.as_bytes());
    }

    /// Removes every place up to an ordinal.
    pub(super) fn purge_places(&mut self, number: RoomNumber, last: Ordinal) {
        self.bytes.push(PURGE_PLACES);
        self.bytes.extend_from_slice(&number.to_be_bytes());
        self.bytes.extend_from_slice(&last.0.to_be_bytes());
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
        let header = prefix(number, Kind::Header);
        self.purge_rows(&header, &header);
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
        self.purge_rows(&start, &end);
    }

    fn purge_rows(&mut self, first: &[u8], last: &[u8]) {
        self.bytes.push(PURGE_ROWS);
        for end in [first, last] {
            self.sized(|bytes| bytes.extend_from_slice(end));
        }
    }

    fn row(
        &mut self,
        number: RoomNumber,
        kind: Kind,
        at: &[u64],
        value: impl FnOnce(&mut Vec<u8>),
    ) {
        self.bytes.push(ROW);
        self.sized(|bytes| {
            bytes.extend_from_slice(&prefix(number, kind));
            for part in at {
                bytes.extend_from_slice(&part.to_be_bytes());
            }
        });
        self.sized(value);
    }

    /// Writes something with its length before it.
    fn sized(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let at = self.bytes.len();
        self.bytes.extend_from_slice(&[0; 4]);
        write(&mut self.bytes);
        let length = u32::try_from(self.bytes.len() - at - 4).expect("a row is short");
        self.bytes[at..at + 4].copy_from_slice(&length.to_be_bytes());
    }
}

/// The changes of a batch; what follows one that makes no sense is `None`.
pub(super) fn changes(batch: &[u8]) -> impl Iterator<Item = Option<Change<'_>>> {
    let mut reader = Reader(batch);
    std::iter::from_fn(move || {
        if reader.0.is_empty() {
            return None;
        }
        let change = reader.change();
        if change.is_none() {
            reader.0 = &[];
        }
        Some(change)
    })
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn change(&mut self) -> Option<Change<'a>> {
        let [tag] = self.array()?;
        Some(match tag {
            ROW => Change::Row {
                key: self.sized()?,
                value: self.sized()?,
            },
            PURGE_ROWS => {
                let (first, last) = (self.sized()?, self.sized()?);
                (first <= last).then_some(Change::PurgeRows { first, last })?
            }
            PLACE | NO_PLACE => {
                let (room, ordinal) = self.place()?;
                let value = if tag == PLACE {
                    Some(self.sized()?)
                } else {
                    None
                };
                Change::Place {
                    room,
                    ordinal,
                    value,
                }
            }
            PURGE_PLACES => {
                let (room, last) = self.place()?;
                Change::PurgePlaces { room, last }
            }
            _ => return None,
        })
    }

    fn place(&mut self) -> Option<(RoomNumber, Ordinal)> {
        let room = RoomNumber::from_be_bytes(self.array()?);
        Some((room, Ordinal(u64::from_be_bytes(self.array()?))))
    }

    fn sized(&mut self) -> Option<&'a [u8]> {
        let length = u32::from_be_bytes(self.array()?);
        let (text, rest) = self.0.split_at_checked(usize::try_from(length).ok()?)?;
        self.0 = rest;
        Some(text)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (array, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*array)
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the halves are taken apart on purpose"
)]
fn halves(key: u128) -> (u64, u64) {
    ((key >> 64) as u64, key as u64)
}

pub(super) fn prefix(number: RoomNumber, kind: Kind) -> [u8; 5] {
    let [a, b, c, d] = number.to_be_bytes();
    [a, b, c, d, kind as u8]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_read_as_they_were_written() {
        let mut batch = Batch::default();
        batch.place(7, Ordinal(3), Some(("u:ann", Live::AtDoor { before: 0 })));
        batch.place(7, Ordinal(4), None);
        batch.purge_places(8, Ordinal(9));
        batch.row(7, Kind::Gone, &[1], |bytes| bytes.push(5));
        batch.purge_rows(b"a", b"bc");
        let read: Vec<_> = changes(batch.bytes()).map(Option::unwrap).collect();
        let expected = [
            Change::Place {
                room: 7,
                ordinal: Ordinal(3),
                value: Some(b"\x01u:ann"),
            },
            Change::Place {
                room: 7,
                ordinal: Ordinal(4),
                value: None,
            },
            Change::PurgePlaces {
                room: 8,
                last: Ordinal(9),
            },
            Change::Row {
                key: &[0, 0, 0, 7, 1, 0, 0, 0, 0, 0, 0, 0, 1],
                value: &[5],
            },
            Change::PurgeRows {
                first: b"a",
                last: b"bc",
            },
        ];
        assert_eq!(read, expected);
    }

    #[test]
    fn a_batch_that_is_cut_anywhere_is_noticed_or_ends_between_two_changes() {
        let mut batch = Batch::default();
        batch.place(7, Ordinal(3), Some(("u:ann", Live::InLine)));
        let middle = batch.bytes().len();
        batch.row(7, Kind::Gone, &[1], |bytes| bytes.push(5));
        for end in 0..batch.bytes().len() {
            let whole = changes(&batch.bytes()[..end]).all(|change| change.is_some());
            assert_eq!(whole, end == 0 || end == middle, "{end}");
        }
    }
}
