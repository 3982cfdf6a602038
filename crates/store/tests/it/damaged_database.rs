//! Whatever happened to `rooms.redb`, a start is whole or refused with a message; it never panics.

use std::{path::Path, sync::Arc};

use ropeline_core::RoomId;
use ropeline_store::OpenError;
use ropeline_testing::ManualClock;
use tempfile::TempDir;

use crate::{
    given::{Given, directory, open_again, policy},
    journal::{a_busy_evening, written},
};

const DATABASE: &str = "rooms.redb";
const SEED: u64 = 20_251_104;
const SECTOR: usize = 512;

/// A data directory after a clean stop, and what it held.
struct Stopped {
    directory: TempDir,
    clock: Arc<ManualClock>,
    database: Vec<u8>,
    journal: Vec<u8>,
    room: String,
}

#[derive(Debug, PartialEq, Eq)]
enum Start {
    Whole,
    Refused,
}

impl Stopped {
    async fn after_a_busy_evening() -> Self {
        let given = Given::room(policy()).await;
        a_busy_evening(&given).await;
        let room = written(&given.store.room(&given.room).unwrap());
        let Given {
            store,
            clock,
            directory: stopped,
            ..
        } = given;
        drop(store);
        let read = |name| std::fs::read(stopped.path().join(name)).unwrap();
        Self {
            database: read(DATABASE),
            journal: read("rooms.journal"),
            directory: directory(),
            clock,
            room,
        }
    }

    /// Starts with another database. A start that is neither whole nor refused fails the test.
    #[track_caller]
    fn start_with(&self, database: &[u8], damage: &str) -> Start {
        let path = |name: &str| self.directory.path().join(name);
        std::fs::write(path(DATABASE), database).unwrap();
        std::fs::write(path("rooms.journal"), &self.journal).unwrap();
        // Shown only if the test fails.
        println!("{damage}");
        let first = self.start(damage);
        assert_eq!(self.start(damage), first, "the second start, {damage}");
        first
    }

    #[track_caller]
    fn start(&self, damage: &str) -> Start {
        match open_again(self.directory.path(), &self.clock) {
            Ok(store) => {
                let room = store.room(&RoomId::main()).unwrap();
                assert_eq!(written(&room), self.room, "{damage}");
                Start::Whole
            }
            Err(error) => {
                assert!(matches!(error, OpenError::Damaged { .. }), "{error}");
                assert_says_what_to_do(&error, self.directory.path());
                Start::Refused
            }
        }
    }
}

#[track_caller]
fn assert_says_what_to_do(error: &OpenError, directory: &Path) {
    let message = error.to_string();
    let file = directory.join(DATABASE).display().to_string();
    for words in [file.as_str(), "from a backup", "move it away"] {
        assert!(message.contains(words), "{words}: {message}");
    }
}

/// Numbers that are the same in every run.
fn numbers(mut state: u64) -> impl FnMut(usize) -> usize {
    move |below| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % below as u64).unwrap()
    }
}

#[tokio::test]
async fn a_flipped_bit_ends_in_a_whole_start_or_a_message() {
    let stopped = Stopped::after_a_busy_evening().await;
    let used: Vec<_> = (0..stopped.database.len())
        .filter(|at| stopped.database[*at] != 0)
        .collect();
    let mut below = numbers(SEED);
    let mut starts = Vec::new();
    for _ in 0..300 {
        let (at, bit) = (used[below(used.len())], below(8));
        let mut database = stopped.database.clone();
        database[at] ^= 1 << bit;
        let damage = format!("bit {bit} of byte {at}");
        starts.push(stopped.start_with(&database, &damage));
    }
    // Pages that earlier transactions left behind are used by nobody, so either end must have been seen.
    assert!(starts.contains(&Start::Refused) && starts.contains(&Start::Whole));
}

#[tokio::test]
async fn a_sector_of_junk_ends_in_a_whole_start_or_a_message() {
    let stopped = Stopped::after_a_busy_evening().await;
    let sectors = stopped.database.chunks(SECTOR).enumerate();
    let used: Vec<_> = sectors
        .filter(|(_, bytes)| bytes.iter().any(|byte| *byte != 0))
        .map(|(number, _)| number * SECTOR)
        .collect();
    let mut below = numbers(SEED);
    for at in used.into_iter().take(150) {
        let mut database = stopped.database.clone();
        for byte in &mut database[at..at + SECTOR] {
            *byte = u8::try_from(below(256)).unwrap();
        }
        stopped.start_with(&database, &format!("junk from byte {at} on"));
    }
}

/// Before the name of a type redb keeps a number from 1 to 4, and takes no other.
#[tokio::test]
async fn a_bit_at_which_redb_panics_is_refused_with_the_message() {
    const TYPE: &[u8] = b"redb::AllocatorStateKey";
    let stopped = Stopped::after_a_busy_evening().await;
    let mut database = stopped.database.clone();
    let names = stopped.database.windows(TYPE.len()).enumerate();
    for (at, _) in names.filter(|(_, bytes)| *bytes == TYPE) {
        database[at - 1] ^= 0x80;
    }
    assert_ne!(database, stopped.database);
    let start = stopped.start_with(&database, "another number before the type");
    assert_eq!(start, Start::Refused);
}

#[tokio::test]
async fn a_database_that_was_cut_short_is_refused() {
    let stopped = Stopped::after_a_busy_evening().await;
    let whole = stopped.database.len();
    for length in [0, 1, 8, 9, 200, 511, 4_096, whole / 2, whole - 1] {
        let cut = &stopped.database[..length];
        let start = stopped.start_with(cut, &format!("cut to {length} bytes"));
        assert_eq!(start, Start::Refused, "cut to {length} bytes");
    }
}
