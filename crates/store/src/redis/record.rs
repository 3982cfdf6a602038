//! What a node knows of its rooms, on its own disk: a node that was restarted remembers, also if Redis does not.
//!
//! The file is at most a second old. It is no copy of the line: it has no places, only what keeps ordinals from being
//! given twice and ended places from coming back.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use ropeline_core::{Bits, Header, Ordinal, Pace, Reasons, RoomId, Timestamp, View};
use serde::{Deserialize, Serialize};

use super::{Inner, room::RoomNode};
use crate::private;

const FILE: &str = "redis-rooms.json";
/// How often it is written while rooms change.
pub(super) const WRITE_EVERY: Duration = Duration::from_secs(1);

/// The file of a node.
#[derive(Debug)]
pub(super) struct Record {
    path: PathBuf,
    /// The address of the store that it is about, without its password.
    store: String,
    /// The version and issued ordinal of each room as they were last written.
    written: Mutex<BTreeMap<RoomId, (u64, Ordinal)>>,
}

/// What the file has of a room.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct RoomRecord {
    header: Header,
    as_of: Timestamp,
    /// Bitmaps from `base` on, in hexadecimal digits.
    gone: String,
    done: String,
    /// How many ordinals to leave out if this is all that is left of the room.
    reserve: u64,
}

#[derive(Debug, Serialize, Deserialize)]
struct Contents {
    store: String,
    rooms: BTreeMap<RoomId, RoomRecord>,
}

/// What a node knew when it was stopped.
#[derive(Debug)]
pub(super) enum Past {
    /// It has never served this store.
    None,
    /// It has; these are the rooms that it remembers.
    Known(BTreeMap<RoomId, RoomRecord>),
}

impl Record {
    pub(super) fn in_directory(directory: &Path, store: String) -> Self {
        Self {
            path: directory.join(FILE),
            store,
            written: Mutex::default(),
        }
    }

    /// Reads what was written before. A file that cannot be read is as good as one without rooms.
    pub(super) fn read(&self) -> Past {
        let text = match private::read(&self.path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Past::None,
            Err(error) => return self.unreadable(&error),
        };
        match serde_json::from_str::<Contents>(&text) {
            Ok(contents) if contents.store == self.store => Past::Known(contents.rooms),
            Ok(_) => Past::None,
            Err(error) => self.unreadable(&error),
        }
    }

    fn unreadable(&self, error: &dyn std::fmt::Display) -> Past {
        tracing::warn!(
            file = %self.path.display(),
            %error,
            "this node's memory of its rooms cannot be read; it is written again"
        );
        Past::Known(BTreeMap::new())
    }

    /// Writes what is known of the rooms, if it has changed.
    pub(super) fn write<'a>(&self, rooms: impl Iterator<Item = &'a RoomNode>) -> io::Result<()> {
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        let memories = rooms.filter_map(|room| {
            let view = room.memory(None)?;
            let (version, issued) = (view.header.version, view.header.issued);
            let before = written
                .get(&room.name)
                .map_or(issued, |(_, issued)| *issued);
            let reserve = room.review_reserve(issued.0.saturating_sub(before.0));
            Some((room.name.clone(), (version, issued), view, reserve))
        });
        let memories: Vec<_> = memories.collect();
        let numbers = memories
            .iter()
            .map(|(room, numbers, ..)| (room.clone(), *numbers));
        let now: BTreeMap<_, _> = numbers.collect();
        if *written == now {
            return Ok(());
        }
        let records = memories.into_iter();
        let records =
            records.map(|(room, _, view, reserve)| (room, RoomRecord::of(&view, reserve)));
        let contents = Contents {
            store: self.store.clone(),
            rooms: records.collect(),
        };
        let fresh = self.path.with_extension("new");
        let mut options = File::options();
        let options = options.write(true).create(true).truncate(true);
        private::open(&fresh, options)?.write_all(&serde_json::to_vec(&contents)?)?;
        fs::rename(&fresh, &self.path)?;
        *written = now;
        Ok(())
    }
}

impl RoomRecord {
    fn of(view: &View, reserve: u64) -> Self {
        let base = view.header.base.0;
        Self {
            header: view.header.clone(),
            as_of: view.as_of,
            gone: to_hex(&view.gone.to_bitmap(base)),
            done: to_hex(&view.done.to_bitmap(base)),
            reserve,
        }
    }

    /// The view as it was, and how many ordinals to leave out if nobody knows more.
    pub(super) fn recall(self) -> (Arc<View>, u64) {
        let base = self.header.base.0;
        let view = View {
            gone: Bits::from_bitmap(base, &from_hex(&self.gone)),
            done: Bits::from_bitmap(base, &from_hex(&self.done)),
            reasons: Reasons::default(),
            inside: 0,
            aside: 0,
            door: 0,
            pace: Pace::default(),
            as_of: self.as_of,
            header: self.header,
        };
        (Arc::new(view), self.reserve)
    }
}

fn to_hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |half: u8| char::from(DIGITS[usize::from(half)]);
    let digits = bytes
        .iter()
        .flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]);
    digits.collect()
}

/// What is no digit counts as 0: an ending that is forgotten, at worst.
fn from_hex(text: &str) -> Vec<u8> {
    let half = |digit: u8| char::from(digit).to_digit(16).unwrap_or_default();
    let bytes = text.as_bytes().chunks(2).map(|pair| {
        let value = pair
            .iter()
            .fold(0, |value, digit| value << 4 | half(*digit));
        u8::try_from(value).expect("two digits are a byte")
    });
    bytes.collect()
}

impl Inner {
    /// Writes the record once a second while the store is open, and once more when it is closed.
    pub(super) async fn record_for_ever(self: Arc<Self>) {
        let mut open = true;
        while open {
            tokio::select! {
                () = self.stopping.cancelled() => open = false,
                () = tokio::time::sleep(WRITE_EVERY) => {}
            }
            let this = Arc::clone(&self);
            let written = tokio::task::spawn_blocking(move || this.write_record()).await;
            if let Ok(Err(error)) = written {
                tracing::warn!(%error, "this node cannot write down what it knows of its rooms");
            }
        }
    }

    fn write_record(&self) -> io::Result<()> {
        let rooms = self.rooms.load();
        let Some(record) = &self.record else {
            return Ok(());
        };
        record.write(rooms.values().map(|room| &**room))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bitmaps_are_read_as_they_were_written() {
        let bytes = [0, 1, 0x7f, 0x80, 0xff];
        assert_eq!(to_hex(&bytes), "00017f80ff");
        assert_eq!(from_hex("00017f80ff"), bytes);
    }
}
