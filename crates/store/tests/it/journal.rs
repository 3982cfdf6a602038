//! What was acknowledged and is in the journal only is as safe as what is in the book.

use std::{path::Path, sync::Arc, time::Duration};

use ropeline_core::{ImportRow, Imported, Room, RoomId, Saved, Timestamp, Was};
use ropeline_store::{OpenError, Operation, Store};
use ropeline_testing::ManualClock;
use tempfile::TempDir;

use crate::given::{Given, copy_of, directory, holder, open, open_again, policy, visitor};

const BOOK: &str = "rooms.redb";
const JOURNAL: &str = "rooms.journal";

fn read(directory: &Path, name: &str) -> Vec<u8> {
    std::fs::read(directory.join(name)).unwrap()
}

fn with_files(book: &[u8], journal: Option<&[u8]>) -> TempDir {
    let directory = directory();
    std::fs::write(directory.path().join(BOOK), book).unwrap();
    if let Some(journal) = journal {
        std::fs::write(directory.path().join(JOURNAL), journal).unwrap();
    }
    directory
}

/// A room in a form that can be compared.
pub(crate) fn written(room: &Room) -> String {
    let Saved {
        mut header,
        mut places,
        gone,
        done,
        imported,
        claimed,
        seen,
        mut keys,
    } = room.saved();
    // A start gives everybody a whole round to be heard of.
    header.presence.started = Timestamp(0);
    places.sort_by_key(|place| place.ordinal);
    keys.sort_by_key(|(round, key)| (*round, key.key));
    let sets = [gone, done, imported, claimed].map(|set| set.iter_from(0).collect::<Vec<_>>());
    let seen: Vec<_> = seen
        .iter()
        .map(|(round, bits)| (round, bits.iter_from(0).collect::<Vec<_>>()))
        .collect();
    format!("{header:?} {places:?} {sets:?} {seen:?} {keys:?}")
}

/// Joins, departures, admissions and a reset.
pub(crate) async fn a_busy_evening(given: &Given) {
    for n in 1..=60 {
        given.join(&format!("user-{n}")).await;
    }
    for n in [2, 30, 31] {
        let leaver = holder(&format!("user-{n}"), n);
        given.store.leave(&given.room, leaver).await.unwrap();
    }
    given.clock.advance(Duration::from_secs(10));
    given.store.settle(&given.room).await.unwrap();
    given.join("user-2").await;
}

#[tokio::test]
async fn a_book_that_has_nothing_of_it_is_brought_up_by_the_journal() {
    for reset in [false, true] {
        let given = Given::room(policy()).await;
        let early = copy_of(&given.directory);
        a_busy_evening(&given).await;
        if reset {
            let reset = Operation::Reset;
            given.store.operate(&given.room, reset).await.unwrap();
            given.join("user-7").await;
        }
        let journal = read(given.directory.path(), JOURNAL);
        let crashed = with_files(&read(early.path(), BOOK), Some(&journal));
        let store = open(crashed.path(), &given.clock);
        let [before, after] = [&given.store, &store].map(|store| store.room(&given.room).unwrap());
        assert_eq!(written(&after), written(&before));
        drop(store);
        let store = open_again(crashed.path(), &given.clock).unwrap();
        let again = store.room(&given.room).unwrap();
        assert_eq!(written(&again), written(&before), "from the book");
    }
}

#[tokio::test]
async fn a_journal_that_lacks_a_record_in_between_stops_the_start_and_may_be_moved_away() {
    let given = Given::room(policy()).await;
    let early = copy_of(&given.directory);
    a_busy_evening(&given).await;
    let book = read(early.path(), BOOK);
    let mut journal = read(given.directory.path(), JOURNAL);
    let find = |name: &[u8]| journal.windows(name.len()).position(|text| text == name);
    let at = find(b"user-30").unwrap();
    journal[at] ^= 1;
    let crashed = with_files(&book, Some(&journal));
    let error = open_again(crashed.path(), &given.clock).unwrap_err();
    assert!(matches!(error, OpenError::DamagedJournal { .. }), "{error}");
    assert!(error.to_string().contains("move it away"), "{error}");
    let without = with_files(&book, None);
    let store = open(without.path(), &given.clock);
    assert!(store.rooms().is_empty(), "the book knew of nothing yet");
}

/// A database that has records, and a journal with more of them, as a crash leaves both.
async fn crashed_after_a_busy_evening() -> (Arc<ManualClock>, Vec<u8>, Vec<u8>) {
    let given = Given::room(policy()).await;
    given.join("ann").await;
    let Given {
        store,
        clock,
        directory,
        room,
    } = given;
    drop(store);
    let database = read(directory.path(), BOOK);
    let store = Arc::new(open_again(directory.path(), &clock).unwrap());
    let given = Given {
        store,
        clock,
        directory,
        room,
    };
    a_busy_evening(&given).await;
    let journal = read(given.directory.path(), JOURNAL);
    (Arc::clone(&given.clock), database, journal)
}

#[tokio::test]
async fn a_journal_that_was_cut_short_stops_the_start() {
    let (clock, database, journal) = crashed_after_a_busy_evening().await;
    let end = 1 + journal.iter().rposition(|byte| *byte != 0).unwrap();
    let inside_earlier_records = [1, 511, 512, 4_096, end / 2];
    let inside_the_last_record = [end - 1, end - 100];
    let behind_every_record = [end.next_multiple_of(512), journal.len() - 1];
    let lengths = [0]
        .into_iter()
        .chain(inside_earlier_records)
        .chain(inside_the_last_record)
        .chain(behind_every_record);
    for length in lengths {
        let crashed = with_files(&database, Some(&journal[..length]));
        for start in ["first", "second"] {
            let Err(error) = open_again(crashed.path(), &clock) else {
                panic!("cut to {length} bytes: the {start} start did not notice");
            };
            assert!(matches!(error, OpenError::DamagedJournal { .. }), "{error}");
            let message = error.to_string();
            for words in [JOURNAL, "4194304", "backup", "move it away", "loses"] {
                assert!(message.contains(words), "{words}: {message}");
            }
            let left = read(crashed.path(), JOURNAL);
            assert!(left == journal[..length], "it was left as it is");
        }
        std::fs::remove_file(crashed.path().join(JOURNAL)).unwrap();
        let store = open_again(crashed.path(), &clock).unwrap();
        let issued = store.view(&RoomId::main()).unwrap().view.header.issued;
        assert_eq!(issued.0, 1, "without the journal, what the database has");
    }
}

/// Imports more at once than the journal takes.
async fn import_many(given: &Given) {
    let row = |n: usize| ImportRow {
        visitor: visitor(&format!("{n:0>128}")),
        was: Was::Waiting,
    };
    let rows: Vec<_> = (0..10_000).map(row).collect();
    let imported = given.store.import(&given.room, rows, Duration::ZERO);
    let imported = imported.await.unwrap();
    assert!(
        imported
            .iter()
            .all(|one| matches!(one, Imported::Placed(_)))
    );
}

/// redb goes back to the transaction before when the last one is damaged. The journal makes up for that only where it
/// has the records.
#[tokio::test]
async fn a_flipped_bit_in_what_was_too_large_for_the_journal_stops_the_start() {
    let given = Given::room(policy()).await;
    import_many(&given).await;
    let crashed = copy_of(&given.directory);
    let mut database = read(crashed.path(), BOOK);
    let name = format!("{:0>128}", 9_999);
    let at = database
        .windows(name.len())
        .position(|bytes| bytes == name.as_bytes());
    database[at.unwrap()] ^= 1;
    std::fs::write(crashed.path().join(BOOK), &database).unwrap();
    match open_again(crashed.path(), &given.clock) {
        Err(OpenError::Damaged { .. }) => {}
        Err(error) => panic!("{error}"),
        Ok(store) => {
            let issued = store.view(&given.room).unwrap().view.header.issued;
            panic!("of 10,000 who were imported {issued} are left, without a word");
        }
    }
}

#[tokio::test]
async fn what_is_too_large_for_the_journal_is_in_the_book_before_it_is_acknowledged() {
    let given = Given::room(policy()).await;
    import_many(&given).await;
    given.join("ann").await;
    let crashed = given.crash_of();
    assert_eq!(crashed.view().header.issued.0, 10_001);
}

#[tokio::test]
async fn a_longer_evening_than_the_journal_has_room_for_loses_nothing() {
    let given = Arc::new(Given::room(policy()).await);
    for round in 0..30 {
        let joins = (0..1_000).map(|n| {
            let given = Arc::clone(&given);
            async move { given.join(&format!("{round}-{n:0>120}")).await }
        });
        futures_util::future::join_all(joins).await;
    }
    let crashed = given.crash_of();
    let [before, after] = [&given.store, &crashed.store].map(|store| store.room(&given.room));
    assert_eq!(written(&after.unwrap()), written(&before.unwrap()));
}
