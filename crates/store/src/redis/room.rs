//! A room as one node deals with it.

use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicBool, AtomicU64, Ordering},
};

use arc_swap::ArcSwapOption;
use ropeline_core::{Bits, Located, Ordinal, Pace, RoomId, RoomState, ServerId, Timestamp, View};
use tokio::sync::Notify;

use super::{
    away::Away,
    keys::RoomKeys,
    picture::{Asked, Looked, Picture},
    pump::{Asking, Joining},
};
use crate::loops::Queues;

/// Marks that may wait to be sent; more are dropped, and the next poll marks again.
const MARKS_MAX: usize = 1_000_000;

/// A room as this node deals with it.
#[derive(Debug)]
pub(super) struct RoomNode {
    pub(super) name: RoomId,
    pub(super) keys: RoomKeys,
    picture: ArcSwapOption<Picture>,
    pub(super) away: Away,
    /// Held while a picture is put in the place of another.
    pace: Mutex<Pace>,
    marks: Mutex<Marks>,
    confirmed: Mutex<Confirmed>,
    /// The highest ordinal that this node has answered a join with.
    acknowledged: AtomicU64,
    looked_at: AtomicU64,
    /// There is more to settle than one call did.
    unsettled: AtomicBool,
    /// Wakes the one who tends to the room.
    pub(super) nudge: Notify,
    pub(super) healing: tokio::sync::Mutex<()>,
    pub(super) refreshing: tokio::sync::Mutex<()>,
    pub(super) refreshes: Refreshes,
    pub(super) joins: Queues<Joining>,
    pub(super) asks: Queues<Asking>,
}

/// How many refreshes have begun, and which was the last to succeed.
#[derive(Debug, Default)]
pub(super) struct Refreshes {
    pub(super) begun: AtomicU64,
    pub(super) done: AtomicU64,
}

/// Places heard of, each once in a presence round.
#[derive(Debug, Default)]
struct Marks {
    round: u64,
    sent: Bits,
    pending: Vec<Ordinal>,
}

/// Places that may have been lost and that the store was asked about since it came back.
#[derive(Debug, Default)]
struct Confirmed {
    server: Option<ServerId>,
    places: Bits,
}

impl RoomNode {
    pub(super) fn new(name: RoomId, node: &str) -> Self {
        Self {
            keys: RoomKeys::of(&name, node),
            name,
            picture: ArcSwapOption::empty(),
            away: Away::default(),
            pace: Mutex::default(),
            marks: Mutex::default(),
            confirmed: Mutex::default(),
            acknowledged: AtomicU64::new(0),
            looked_at: AtomicU64::new(0),
            unsettled: AtomicBool::new(false),
            nudge: Notify::new(),
            healing: tokio::sync::Mutex::default(),
            refreshing: tokio::sync::Mutex::default(),
            refreshes: Refreshes::default(),
            joins: Queues::default(),
            asks: Queues::default(),
        }
    }

    pub(super) fn picture(&self) -> Option<Arc<Picture>> {
        self.picture.load_full()
    }

    /// Something of the picture, without a count of who has it that all cores would write to.
    pub(super) fn with_picture<T>(&self, then: impl FnOnce(&Picture) -> T) -> Option<T> {
        self.picture.load().as_deref().map(then)
    }

    pub(super) fn view(&self) -> Option<Arc<View>> {
        self.with_picture(|picture| Arc::clone(&picture.view))
    }

    /// The version of the picture; 0 without one.
    pub(super) fn version(&self) -> u64 {
        let version = self.with_picture(|picture| picture.view.header.version);
        version.unwrap_or_default()
    }

    pub(super) fn is_live(&self) -> bool {
        let state = self.with_picture(|picture| picture.view.header.state);
        state.is_some_and(|state| state != RoomState::Deleted)
    }

    /// Whether the store has been written by others since it was last merged with what this node knows: then
    /// this node has to merge, too.
    pub(super) fn must_merge(&self, looked: &Looked) -> bool {
        let known = self.picture.load();
        let other = known
            .as_ref()
            .is_some_and(|known| known.view.header.server != looked.header.server);
        other || looked.is_fenced()
    }

    /// Forgets a room that gave way to one which came from another store: a merge brings every other store to the
    /// epoch that is known here, or to a later one.
    pub(super) fn give_way_to(&self, looked: &Looked) {
        let known = self.view();
        if known.is_some_and(|known| looked.header.epoch < known.header.epoch) {
            self.forget();
        }
    }

    /// Forgets what is known of the room.
    pub(super) fn forget(&self) {
        self.picture.store(None);
        self.acknowledged.store(0, Ordering::Release);
        *lock(&self.confirmed) = Confirmed::default();
        *lock(&self.marks) = Marks::default();
    }

    /// Shows a picture that was known before.
    pub(super) fn recall(&self, view: &Arc<View>, fresh_at: Timestamp) {
        self.picture.store(Some(Arc::new(Picture {
            view: Arc::clone(view),
            fresh_at,
            next_due: None,
            set_aside: Bits::default(),
        })));
    }

    /// Puts a picture in the place of an older one.
    pub(super) fn publish(&self, looked: &Looked, asked: Asked, aside: &[u64]) {
        let mut pace = lock(&self.pace);
        let old = self.picture();
        if let Some(picture) = Picture::after(old.as_deref(), looked, asked, aside, &mut pace) {
            let began_again = |old: &Picture| old.view.header.epoch != picture.view.header.epoch;
            if old.as_deref().is_some_and(began_again) {
                self.acknowledged.store(0, Ordering::Release);
            }
            self.picture.store(Some(Arc::new(picture)));
        }
    }

    /// Up to when this node knows that a place may be inside.
    pub(super) fn leased(&self, ordinal: Ordinal) -> Option<Timestamp> {
        let picture = self.picture()?;
        let passed = picture.view.locate(ordinal) == Located::PassedBy;
        (passed && !picture.set_aside.contains(ordinal.0)).then_some(picture.fresh_at)
    }

    pub(super) fn acknowledge(&self, ordinal: Ordinal) {
        self.acknowledged.fetch_max(ordinal.0, Ordering::AcqRel);
    }

    pub(super) fn acknowledged(&self) -> u64 {
        self.acknowledged.load(Ordering::Acquire)
    }

    /// Notes that somebody looks at the room.
    pub(super) fn note_look(&self, now: Timestamp) {
        self.looked_at.store(now.0, Ordering::Relaxed);
    }

    pub(super) fn last_looked_at(&self) -> Timestamp {
        Timestamp(self.looked_at.load(Ordering::Relaxed))
    }

    /// Notes whether there is more to settle.
    pub(super) fn note_more(&self, more: bool) {
        if more {
            self.unsettled.store(true, Ordering::Release);
            self.nudge.notify_one();
        }
    }

    /// Whether settling has something to do by now.
    pub(super) fn is_due(&self, clock: Timestamp) -> bool {
        let due = self.picture().is_some_and(|picture| {
            let due = picture.next_due;
            due.is_some_and(|due| due <= picture.view.now(clock))
        });
        self.unsettled.swap(false, Ordering::AcqRel) || due
    }

    /// Notes that the holder of a place is there, once in a presence round.
    pub(super) fn mark(&self, ordinal: Ordinal) {
        let round = self.view().map_or(0, |view| view.header.presence.number);
        let mut marks = lock(&self.marks);
        if marks.round != round {
            marks.round = round;
            marks.sent = Bits::default();
        }
        if marks.pending.len() < MARKS_MAX && marks.sent.insert(ordinal.0) {
            marks.pending.push(ordinal);
        }
    }

    pub(super) fn take_marks(&self) -> Vec<Ordinal> {
        std::mem::take(&mut lock(&self.marks).pending)
    }

    /// Marks that could not be sent are sent later.
    pub(super) fn put_marks_back(&self, marks: Vec<Ordinal>) {
        let mut all = lock(&self.marks);
        if all.pending.len() + marks.len() <= MARKS_MAX {
            all.pending.extend(marks);
        }
    }

    /// Whether a place that may have been lost has been confirmed since the store came back, in which case its
    /// holder only has to be marked.
    pub(super) fn is_confirmed(&self, ordinal: Ordinal) -> bool {
        let Some(view) = self.view() else {
            return false;
        };
        let in_line = matches!(view.locate(ordinal), Located::InLine { .. });
        let confirmed = lock(&self.confirmed);
        in_line
            && confirmed.server.as_ref() == Some(&view.header.server)
            && confirmed.places.contains(ordinal.0)
    }

    /// Notes that the store has a place.
    pub(super) fn confirm(&self, ordinal: Ordinal) {
        let Some(view) = self.view().filter(|view| view.header.lost.is_some()) else {
            return;
        };
        let mut confirmed = lock(&self.confirmed);
        if confirmed.server.as_ref() != Some(&view.header.server) {
            *confirmed = Confirmed {
                server: Some(view.header.server.clone()),
                places: Bits::default(),
            };
        }
        confirmed.places.insert(ordinal.0);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
