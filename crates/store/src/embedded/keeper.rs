//! The thread that takes what is in the journal over into the book, many batches at a time.

use std::{
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread::JoinHandle,
    time::Duration,
};

use super::{
    book::{Book, BookError, Commit},
    journal::{BATCH_MAX, Record},
    merged::Merged,
    rooms::Rooms,
};

/// How long the book may be behind, so that much is written at once.
const BEHIND: Duration = Duration::from_millis(200);

/// The other end of the thread. It ends, with all that it was given in the book, when this is dropped.
#[derive(Debug)]
pub(super) struct Keeper {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    /// There is something to do.
    work: Condvar,
    /// Something was done, or cannot be.
    done: Condvar,
}

#[derive(Debug)]
struct State {
    waiting: Vec<Record>,
    /// Whether somebody waits for the book, or the journal fills up.
    hurry: bool,
    closing: bool,
    /// The last record that the book has.
    written: u64,
    failed: Option<Failed>,
}

/// The book cannot be written.
#[derive(Debug, Clone)]
pub(super) struct Failed(pub(super) Arc<str>);

impl Keeper {
    /// Starts with records that the book has not.
    pub(super) fn start(
        book: Book,
        written: u64,
        waiting: Vec<Record>,
        rooms: Arc<Rooms>,
    ) -> std::io::Result<Self> {
        let state = State {
            waiting,
            hurry: false,
            closing: false,
            written,
            failed: None,
        };
        let shared = Arc::new(Shared {
            state: Mutex::new(state),
            work: Condvar::new(),
            done: Condvar::new(),
        });
        let theirs = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("book".into())
            .spawn(move || keep(book, &theirs, &rooms))?;
        Ok(Self {
            shared,
            thread: Some(thread),
        })
    }

    /// Hands over a record.
    pub(super) fn give(&self, record: Record) {
        let mut state = self.shared.state();
        if state.waiting.is_empty() {
            self.shared.work.notify_one();
        }
        state.waiting.push(record);
    }

    /// Says up to which record the book has them.
    pub(super) fn written(&self) -> Result<u64, Failed> {
        self.shared.state().written()
    }

    /// Has all that waits written soon.
    pub(super) fn hurry(&self) {
        if !std::mem::replace(&mut self.shared.state().hurry, true) {
            self.shared.work.notify_one();
        }
    }

    /// Waits until the book has more records than so many.
    pub(super) fn wait_for_more_than(&self, written: u64) -> Result<u64, Failed> {
        self.hurry();
        let state = self.shared.state();
        let waits = |state: &mut State| state.written <= written && state.failed.is_none();
        let state = self.shared.done.wait_while(state, waits);
        state.unwrap_or_else(PoisonError::into_inner).written()
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.shared.state().closing = true;
        self.shared.work.notify_one();
        if let Some(thread) = self.thread.take() {
            thread.join().ok();
        }
    }
}

impl State {
    fn written(&self) -> Result<u64, Failed> {
        match &self.failed {
            None => Ok(self.written),
            Some(failed) => Err(failed.clone()),
        }
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The records to write next; none once all are written and nobody gives more.
    fn take(&self) -> Vec<Record> {
        let idle = |state: &mut State| state.waiting.is_empty() && !state.closing;
        let state = self.work.wait_while(self.state(), idle);
        let state = state.unwrap_or_else(PoisonError::into_inner);
        let early = |state: &mut State| !state.hurry && !state.closing;
        let waited = self.work.wait_timeout_while(state, BEHIND, early);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        state.hurry = false;
        std::mem::take(&mut state.waiting)
    }
}

fn keep(mut book: Book, shared: &Shared, rooms: &Rooms) {
    // Should this thread panic, the writer must not wait for it.
    let _stopped = Stopped(shared);
    loop {
        let records = shared.take();
        let Some(last) = records.last().map(|record| record.number) else {
            return;
        };
        let kept = write(&mut book, &records, last, rooms);
        let mut state = shared.state();
        match kept {
            Ok(()) => state.written = last,
            Err(error) => state.failed = Some(Failed(error.to_string().into())),
        }
        shared.done.notify_one();
        if state.failed.is_some() {
            return;
        }
    }
}

fn write(book: &mut Book, records: &[Record], last: u64, rooms: &Rooms) -> Result<(), BookError> {
    let merged = Merged::of(records.iter().map(|record| record.batch.as_slice()))?;
    let in_journal = |record: &Record| record.batch.len() <= BATCH_MAX;
    let commit = if records.iter().all(in_journal) {
        Commit::OnePhase
    } else {
        Commit::TwoPhase
    };
    book.write(&merged, last, commit)?;
    book.compact_if_nearly_empty(rooms.live_places())
}

struct Stopped<'a>(&'a Shared);

impl Drop for Stopped<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        let stopped = || Failed("the thread that writes it has stopped".into());
        state.failed.get_or_insert_with(stopped);
        self.0.done.notify_one();
    }
}
