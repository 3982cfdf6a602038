//! A store with a room in it.

use std::{path::Path, sync::Arc, time::Duration};

use ropeline_core::{
    Bounds, Holder, Identity, Joiner, Ordinal, Policy, RoomId, UserId, View, Visitor,
};
use ropeline_store::{EmbeddedStore, OpenError, Store};
use ropeline_testing::{ManualClock, line::START};
use tempfile::TempDir;

/// Small bounds, so that a tick needs several calls.
pub(crate) const BOUNDS: Bounds = Bounds {
    look_max: 3,
    base_trail: 16 << 20,
    base_step: 1 << 20,
};

/// A store in a directory of its own, with a clock that only the test moves.
pub(crate) struct Given {
    pub(crate) store: Arc<EmbeddedStore>,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) directory: TempDir,
    pub(crate) room: RoomId,
}

impl Given {
    pub(crate) async fn room(policy: Policy) -> Self {
        let directory = directory();
        let clock = Arc::new(ManualClock::at(START));
        let store = open(directory.path(), &clock);
        let room = RoomId::main();
        assert!(store.create(&room, Arc::new(policy), None).await.unwrap());
        Self {
            store,
            clock,
            directory,
            room,
        }
    }

    pub(crate) async fn join(&self, user: &str) {
        let joiner = Joiner {
            visitor: visitor(user),
            key: None,
        };
        self.store.join(&self.room, joiner).await.unwrap();
    }

    pub(crate) fn view(&self) -> Arc<View> {
        self.store.view(&self.room).unwrap().view
    }

    /// The store as it is after a crash at this instant, with the one of before still there.
    pub(crate) fn crash_of(&self) -> Self {
        let directory = copy_of(&self.directory);
        let store = open(directory.path(), &self.clock);
        Self {
            store,
            directory,
            clock: Arc::clone(&self.clock),
            room: self.room.clone(),
        }
    }
}

/// What a crash at this instant leaves of the files. The book is written behind our back: it is read until it was the
/// same before and after.
pub(crate) fn copy_of(original: &TempDir) -> TempDir {
    let read = |name| std::fs::read(original.path().join(name)).unwrap();
    let mut book = read("rooms.redb");
    let journal = loop {
        let journal = read("rooms.journal");
        let now = read("rooms.redb");
        if now == book {
            break journal;
        }
        book = now;
    };
    let copy = directory();
    std::fs::write(copy.path().join("rooms.redb"), book).unwrap();
    std::fs::write(copy.path().join("rooms.journal"), journal).unwrap();
    copy
}

/// A crash is played here by copying files, so nothing would be shown by waiting for a disk.
pub(crate) fn directory() -> TempDir {
    tempfile::tempdir_in("/dev/shm")
        .or_else(|_| tempfile::tempdir())
        .unwrap()
}

pub(crate) fn open(directory: &Path, clock: &Arc<ManualClock>) -> Arc<EmbeddedStore> {
    let clock: Arc<ManualClock> = Arc::clone(clock);
    Arc::new(EmbeddedStore::open_with(directory, clock, BOUNDS).unwrap())
}

/// Opens a directory that no store has any more. A process that another test starts holds our locks, too, until it
/// has begun.
pub(crate) fn open_again(
    directory: &Path,
    clock: &Arc<ManualClock>,
) -> Result<EmbeddedStore, OpenError> {
    let open = || EmbeddedStore::open(directory, Arc::clone(clock) as _);
    let mut opened = open();
    for _ in 0..1_000 {
        if !matches!(opened, Err(OpenError::InUse { .. })) {
            break;
        }
        std::thread::sleep(Duration::from_millis(5));
        opened = open();
    }
    opened
}

pub(crate) fn visitor(user: &str) -> Visitor {
    Visitor::stated(&UserId::parse(user).unwrap())
}

pub(crate) fn holder(user: &str, ordinal: u64) -> Holder {
    Holder {
        visitor: visitor(user),
        ordinal: Ordinal(ordinal),
    }
}

/// Nobody is admitted before the first tick is over, and three then.
pub(crate) fn policy() -> Policy {
    Policy {
        every: Duration::from_secs(10),
        batch: Some(3),
        active_max: None,
        pass_ttl: Duration::from_secs(30),
        pass_max: Duration::ZERO,
        presence_ttl: Duration::ZERO,
        missed_turn_ttl: Duration::from_secs(60),
        waiting_max: 1_000_000,
        identity: Identity::Open,
    }
}
