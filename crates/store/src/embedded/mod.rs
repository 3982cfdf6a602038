//! Rooms in this process's memory, journalled to a file.
//!
//! The rules are core's own [`Room`]. One writer thread owns every change but renewals: it takes whatever
//! has queued up since the last sync, applies it, writes the state of all that changed to the journal as one record,
//! and only then publishes the new views and answers. A second thread takes what the journal has over into the
//! book, many records at a time. While either file cannot be written, joins are refused and reads go on.

mod book;
mod carry;
mod commit;
mod couriers;
mod disk;
mod inbox;
mod journal;
mod journal_file;
mod keeper;
mod load;
#[cfg(feature = "measure")]
mod measure;
mod merged;
mod panics;
mod rooms;
mod rows;
mod writer;

use std::{
    fs::{File, TryLockError},
    io::{Read, Seek, Write},
    path::Path,
    sync::Arc,
    thread::JoinHandle,
    time::Duration,
};

use async_trait::async_trait;
use ropeline_core::{
    Bounds, Command, Departure, Holder, ImportRow, Imported, Joined, Joiner, Live, Ordinal, Policy,
    Reply, Room, RoomId, Saved, Standing, View, Visitor,
};
use thiserror::Error;

use crate::{Clock, Found, Freeze, Health, Operation, Over, Seen, Store, StoreError, private};
use book::BookError;
use carry::{Arrival, Deed};
use couriers::{Asker, Couriers};
use disk::{BOOK, DiskError, Files, JOURNAL};
use inbox::{Inbox, Taker, Unheard};
use journal::JournalError;
#[cfg(feature = "measure")]
pub use measure::Turning;
use rooms::{Handle, Rooms};
use writer::{Op, Writer};

const LOCK: &str = "lock";

/// Why a data directory could not be opened, worded for the operator.
#[derive(Debug, Error)]
pub enum OpenError {
    /// Somebody else is there.
    #[error(
        "{directory} is in use by another ropeline process{owner}: stop it, or choose another --data"
    )]
    InUse {
        /// The data directory.
        directory: String,
        /// The process, where it is known.
        owner: String,
    },
    /// The directory cannot be used.
    #[error("cannot use the data directory {directory}: {cause}")]
    Directory {
        /// The data directory.
        directory: String,
        /// Why not.
        cause: std::io::Error,
    },
    /// What was written last does not make sense.
    #[error(
        "{file} is damaged and was left as it is: {cause}. Restore it together with {BOOK} from a backup, or move it away. Moving it away loses about the last second before the server stopped, unless the stop was clean: visitors who left then may be back in line, and places given then may be given again"
    )]
    DamagedJournal {
        /// The file.
        file: String,
        /// What was found.
        cause: String,
    },
    /// The file is there but does not make sense.
    #[error(
        "{file} is damaged and was not repaired: {cause}. Restore it from a backup, or move it away to start empty"
    )]
    Damaged {
        /// The file.
        file: String,
        /// What was found.
        cause: String,
    },
}

/// Rooms of one process, kept in a data directory that is locked while it runs.
#[derive(Debug)]
pub struct EmbeddedStore {
    rooms: Arc<Rooms>,
    inbox: Arc<Inbox>,
    couriers: Arc<Couriers>,
    writer: std::sync::Mutex<Option<JoinHandle<()>>>,
    clock: Arc<dyn Clock>,
    /// Held for as long as the store lives.
    _lock: File,
}

impl EmbeddedStore {
    /// Opens the rooms of a data directory, which is made if it is not there.
    pub fn open(directory: &Path, clock: Arc<dyn Clock>) -> Result<Self, OpenError> {
        Self::open_with(directory, clock, Bounds::default())
    }

    /// As [`EmbeddedStore::open`], with other limits on the work of one transition.
    pub fn open_with(
        directory: &Path,
        clock: Arc<dyn Clock>,
        bounds: Bounds,
    ) -> Result<Self, OpenError> {
        let lock = lock(directory)?;
        let unusable = |cause| unusable(directory, cause);
        let files = Files::open(directory).map_err(|error| cannot_open(error, directory))?;
        let saved = files
            .load(bounds)
            .map_err(|error| damaged(&error, directory))?;
        let rooms = Arc::new(Rooms::of(saved, &*clock));
        let disk = files.start(Arc::clone(&rooms)).map_err(unusable)?;
        let inbox = Arc::new(Inbox::default());
        let couriers = Arc::new(Couriers::default());
        let writer = Writer::new(
            disk,
            Arc::clone(&rooms),
            Arc::clone(&clock),
            bounds,
            Taker::of(&inbox),
            Arc::clone(&couriers),
        );
        let thread = std::thread::Builder::new()
            .name("rooms".into())
            .spawn(|| writer.run())
            .map_err(unusable)?;
        Ok(Self {
            rooms,
            inbox,
            couriers,
            writer: Some(thread).into(),
            clock,
            _lock: lock,
        })
    }

    /// A copy of a room as it is in memory, for tests that compare it with another.
    #[doc(hidden)]
    pub fn room(&self, room: &RoomId) -> Option<Room> {
        Some(self.rooms.get(room)?.state().room.clone())
    }

    fn handle(&self, room: &RoomId) -> Result<Arc<Handle>, StoreError> {
        self.with_handle(room, Arc::clone)
    }

    fn with_handle<T>(
        &self,
        room: &RoomId,
        then: impl FnOnce(&Arc<Handle>) -> T,
    ) -> Result<T, StoreError> {
        self.rooms
            .with_live(room, then)
            .ok_or_else(|| StoreError::NoSuchRoom(room.clone()))
    }

    /// Queues a request for the writer and waits for its durable answer.
    async fn ask_writer<T>(&self, op: impl FnOnce(Asker<T>) -> Op) -> Result<T, StoreError> {
        let (asker, answer) = self.couriers.asker();
        self.inbox.put(op(asker)).map_err(|unheard| match unheard {
            Unheard::Full => StoreError::Overloaded,
            Unheard::Closed => StoreError::Unavailable("it is closed".into()),
        })?;
        answer
            .await
            .unwrap_or_else(|_| Err(StoreError::Unavailable("it is closed".into())))
    }

    async fn apply(&self, room: &RoomId, command: Command) -> Result<Reply, StoreError> {
        let handle = self.handle(room)?;
        let reply = self.ask_writer(|answer| Op::Apply {
            room: handle,
            command,
            answer,
        });
        match reply.await? {
            Reply::NoRoom => Err(StoreError::NoSuchRoom(room.clone())),
            reply => Ok(reply),
        }
    }

    async fn carry(&self, deed: Deed) -> Result<bool, StoreError> {
        self.ask_writer(|answer| Op::Carry { deed, answer }).await
    }

    async fn departure(&self, room: &RoomId, command: Command) -> Result<Departure, StoreError> {
        match self.apply(room, command).await? {
            Reply::Departed(departure) => Ok(departure),
            reply => Err(unexpected(&reply)),
        }
    }

    async fn standing(&self, room: &RoomId, command: Command) -> Result<Standing, StoreError> {
        match self.apply(room, command).await? {
            Reply::Standing(standings) => Ok(standings.first().map_or(Standing::Unknown, |s| s.1)),
            reply => Err(unexpected(&reply)),
        }
    }
}

#[async_trait]
impl Store for EmbeddedStore {
    fn rooms(&self) -> Vec<RoomId> {
        self.rooms.names()
    }

    fn view(&self, room: &RoomId) -> Option<Seen> {
        let view = self.rooms.with_live(room, |room| room.view())?;
        let fresh_at = self.rooms.down_since().unwrap_or_else(|| self.clock.now());
        Some(Seen { view, fresh_at })
    }

    fn health(&self) -> Health {
        self.rooms.health()
    }

    async fn create(
        &self,
        room: &RoomId,
        policy: Arc<Policy>,
        digest: Option<String>,
    ) -> Result<bool, StoreError> {
        // A room that is there is there even while nothing can be written.
        if self.rooms.live(room).is_some() {
            return Ok(false);
        }
        let room = room.clone();
        self.ask_writer(|answer| Op::Create {
            room,
            policy,
            digest,
            answer,
        })
        .await
    }

    async fn join(&self, room: &RoomId, joiner: Joiner) -> Result<(Joined, Standing), StoreError> {
        let room = self.handle(room)?;
        self.ask_writer(|answer| Op::Join {
            room,
            joiner,
            answer,
        })
        .await
    }

    async fn renew(&self, room: &RoomId, holder: Holder) -> Result<Standing, StoreError> {
        let renewed = self.with_handle(room, |room| room.renew(&holder, self.clock.now()))?;
        if let Some(pass) = renewed {
            return Ok(Standing::Live(Live::Inside(pass)));
        }
        self.standing(room, Command::Renew(vec![holder])).await
    }

    async fn ask(&self, room: &RoomId, holder: Holder) -> Result<Standing, StoreError> {
        let handle = self.handle(room)?;
        match handle.durable_standing(&holder, self.clock.now()) {
            Some(standing @ (Standing::Live(Live::Inside(_)) | Standing::Ended(_))) => Ok(standing),
            Some(standing @ Standing::Live(Live::InLine | Live::AtDoor { .. })) => {
                handle.mark(holder.ordinal);
                Ok(standing)
            }
            // Aside or lost: something is to be done. Unknown: it may have been done just now.
            _ => self.standing(room, Command::Restore(vec![holder])).await,
        }
    }

    async fn keep(
        &self,
        room: &RoomId,
        holder: Holder,
        business: Duration,
    ) -> Result<Standing, StoreError> {
        self.standing(room, Command::Keep { holder, business })
            .await
    }

    fn mark(&self, room: &RoomId, ordinal: Ordinal) {
        self.rooms.with_live(room, |room| room.mark(ordinal));
    }

    async fn leave(&self, room: &RoomId, holder: Holder) -> Result<Departure, StoreError> {
        self.departure(room, Command::Leave(holder)).await
    }

    async fn finish(&self, room: &RoomId, holder: Holder) -> Result<Departure, StoreError> {
        self.departure(room, Command::Finish(holder)).await
    }

    async fn find(&self, room: &RoomId, visitor: &Visitor) -> Result<Option<Found>, StoreError> {
        let handle = self.handle(room)?;
        if !handle.is_durable(visitor) {
            self.settle(room).await?;
        }
        Ok(handle.find(visitor, self.clock.now()))
    }

    async fn revoke(&self, room: &RoomId, visitor: Visitor) -> Result<Option<Ordinal>, StoreError> {
        match self.apply(room, Command::Revoke(visitor)).await? {
            Reply::Revoked(place) => Ok(place),
            reply => Err(unexpected(&reply)),
        }
    }

    async fn operate(&self, room: &RoomId, operation: Operation) -> Result<(), StoreError> {
        self.apply(room, operation.command()).await.map(drop)
    }

    async fn change_policy(
        &self,
        room: &RoomId,
        from: Arc<Policy>,
        to: Arc<Policy>,
    ) -> Result<bool, StoreError> {
        let change = Command::ChangePolicy { from, to };
        Ok(self.apply(room, change).await? == Reply::Done)
    }

    async fn stock(&self, room: &RoomId, left: Option<u64>) -> Result<(), StoreError> {
        self.apply(room, Command::Stock(left)).await.map(drop)
    }

    async fn merge(&self, room: &RoomId, memory: Arc<View>) -> Result<(), StoreError> {
        self.apply(room, Command::Merge(memory)).await.map(drop)
    }

    async fn import(
        &self,
        room: &RoomId,
        rows: Vec<ImportRow>,
        grace: Duration,
    ) -> Result<Vec<Imported>, StoreError> {
        match self.apply(room, Command::Import { rows, grace }).await? {
            Reply::Imported(imported) => Ok(imported),
            Reply::Held(_) => Err(StoreError::Unavailable("joins are held".into())),
            reply => Err(unexpected(&reply)),
        }
    }

    async fn freeze(&self, room: &RoomId, why: Freeze) -> Result<(), StoreError> {
        let deed = Deed::Freeze(self.handle(room)?, why);
        self.carry(deed).await.map(drop)
    }

    async fn frozen(&self, room: &RoomId) -> Result<Option<Freeze>, StoreError> {
        Ok(self.handle(room)?.state().frozen.clone())
    }

    async fn thaw(&self, room: &RoomId) -> Result<bool, StoreError> {
        let deed = Deed::Thaw(self.handle(room)?);
        self.carry(deed).await
    }

    async fn export(&self, room: &RoomId) -> Result<Saved, StoreError> {
        let handle = self.handle(room)?;
        let state = handle.state();
        if state.frozen.is_none() {
            return Err(StoreError::Unavailable("the room is not frozen".into()));
        }
        Ok(state.room.saved())
    }

    async fn adopt(
        &self,
        room: &RoomId,
        saved: Saved,
        from: &str,
        over: Over,
    ) -> Result<bool, StoreError> {
        let arrival = Arrival {
            room: room.clone(),
            saved,
            from: from.to_owned(),
            over,
        };
        self.carry(Deed::Adopt(Box::new(arrival))).await
    }

    async fn discard(&self, room: &RoomId) -> Result<bool, StoreError> {
        self.carry(Deed::Discard(room.clone())).await
    }

    async fn settle(&self, room: &RoomId) -> Result<(), StoreError> {
        self.apply(room, Command::Settle).await.map(drop)
    }

    async fn close(&self) {
        // If the writer has stopped already, there is nothing left to wait for.
        self.ask_writer(|answer| Op::Close { answer }).await.ok();
        self.couriers.close().await;
    }
}

impl Drop for EmbeddedStore {
    /// The lock on the directory must not go before the writer is done with the file.
    fn drop(&mut self) {
        let (answer, _) = self.couriers.asker();
        // Whoever has closed the store before has closed the inbox too.
        self.inbox.put(Op::Close { answer }).ok();
        let thread = self.writer.lock().ok().and_then(|mut writer| writer.take());
        if let Some(thread) = thread {
            thread.join().ok();
        }
    }
}

fn unexpected(reply: &Reply) -> StoreError {
    StoreError::Unavailable(format!("the room answered {reply:?}").into())
}

fn cannot_open(error: DiskError, directory: &Path) -> OpenError {
    match error {
        DiskError::Book(BookError::Io(cause)) | DiskError::Journal(JournalError::Io(cause)) => {
            unusable(directory, cause)
        }
        DiskError::Book(error @ BookError::Damaged(_)) => damaged(&error, directory),
        DiskError::Journal(error) => OpenError::DamagedJournal {
            file: directory.join(JOURNAL).display().to_string(),
            cause: error.to_string(),
        },
        DiskError::Failed(failed) => {
            unusable(directory, std::io::Error::other(failed.0.to_string()))
        }
    }
}

fn unusable(directory: &Path, cause: std::io::Error) -> OpenError {
    OpenError::Directory {
        directory: directory.display().to_string(),
        cause,
    }
}

fn damaged(error: &BookError, directory: &Path) -> OpenError {
    OpenError::Damaged {
        file: directory.join(BOOK).display().to_string(),
        cause: error.to_string(),
    }
}

/// Locks the directory for this process and writes down who it is.
fn lock(directory: &Path) -> Result<File, OpenError> {
    let fail = |cause| unusable(directory, cause);
    private::make_directory(directory).map_err(fail)?;
    let path = directory.join(LOCK);
    let mut options = File::options();
    let options = options.read(true).write(true).create(true).truncate(false);
    let mut file = private::open(&path, options).map_err(fail)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::Error(cause)) => return Err(fail(cause)),
        Err(TryLockError::WouldBlock) => {
            let mut owner = String::new();
            file.read_to_string(&mut owner).map_err(fail)?;
            let owner = if owner.is_empty() {
                owner
            } else {
                format!(" (pid {})", owner.trim())
            };
            return Err(OpenError::InUse {
                directory: directory.display().to_string(),
                owner,
            });
        }
    }
    // Who holds the lock is a help for the reader of a message; a full disk must not stop the start.
    file.set_len(0).and_then(|()| file.rewind()).ok();
    writeln!(file, "{}", std::process::id()).ok();
    Ok(file)
}
