//! What a node knows of a room.

use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicBool, AtomicU64, Ordering},
};

use arc_swap::ArcSwapOption;
use ropeline_core::{
    Bits, Header, Located, Ordinal, Pace, RoomClock, RoomId, RoomState, Timestamp, View,
};
use tokio::sync::{Notify, mpsc};

use super::{
    keys::RoomKeys,
    pump::{Asking, Joining},
    wire::{Answer, Unreadable},
};

/// Marks that may wait to be sent; more are dropped, and the next poll marks again.
const MARKS_MAX: usize = 1_000_000;

/// A picture of a room at one version.
#[derive(Debug)]
pub(super) struct Picture {
    pub(super) view: Arc<View>,
    /// When the question was sent whose answer this is, by the node's clock.
    pub(super) fresh_at: Timestamp,
    /// When settling has something to do next, in room time.
    pub(super) next_due: Option<Timestamp>,
    /// Those that were ever set aside, as far as this node has heard.
    pub(super) set_aside: Bits,
}

/// When a question was sent and its answer came, by the node's clock.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked {
    pub(super) from: Timestamp,
    pub(super) to: Timestamp,
}

impl Asked {
    /// What room time is, given that it was `room` at some moment while the answer was awaited. A node that was
    /// stopped meanwhile cannot tell when; then what it knew before is better.
    fn clock(self, room: Timestamp, known: Option<&Picture>) -> RoomClock {
        let latest = room + self.to.since(self.from);
        let expected = known.map_or(room, |known| known.view.now(self.to));
        RoomClock::heard(expected.clamp(room, latest), self.to)
    }
}

/// What `look.lua` says.
#[derive(Debug)]
pub(super) struct Looked {
    run_id: String,
    header: Header,
    as_of: Timestamp,
    inside: u64,
    aside: u64,
    door: u64,
    next_due: Option<Timestamp>,
    since: Since,
}

/// What ended since a version that the node has.
#[derive(Debug)]
enum Since {
    Same,
    Log {
        gone: Vec<u64>,
        done: Vec<u64>,
        set_aside: Vec<u64>,
    },
    Snapshot {
        gone: Bits,
        done: Bits,
    },
}

impl Looked {
    pub(super) fn read(answer: Answer, clock: Timestamp) -> Result<Self, Unreadable> {
        let (as_of, mut rest) = (answer.now, answer.rest);
        let run_id = rest.text()?;
        let header = rest.header(as_of, clock)?;
        let (inside, aside, door) = (rest.number()?, rest.number()?, rest.number()?);
        let next_due = rest.maybe_number()?.map(Timestamp);
        let how = rest.text()?;
        let mut what = rest.list()?;
        let base = header.base.0;
        let since = match how.as_str() {
            "same" => Since::Same,
            "log" => Since::Log {
                gone: what.ordinals()?,
                done: what.ordinals()?,
                set_aside: what.ordinals()?,
            },
            _ => Since::Snapshot {
                gone: Bits::from_bitmap(base, &what.bytes()?),
                done: Bits::from_bitmap(base, &what.bytes()?),
            },
        };
        Ok(Self {
            run_id,
            header,
            as_of,
            inside,
            aside,
            door,
            next_due,
            since,
        })
    }

    /// Whether the room was last written on another server than it runs on.
    pub(super) fn is_fenced(&self) -> bool {
        !self.header.server.0.starts_with(&*self.run_id)
    }

    pub(super) fn is_snapshot(&self) -> bool {
        matches!(self.since, Since::Snapshot { .. })
    }

    /// The snapshot as a view, for comparing it with what a node knows.
    pub(super) fn view(&self) -> View {
        let (gone, done) = match &self.since {
            Since::Snapshot { gone, done } => (gone.clone(), done.clone()),
            _ => Default::default(),
        };
        View {
            header: self.header.clone(),
            gone,
            done,
            inside: self.inside,
            aside: self.aside,
            door: self.door,
            pace: Pace::default(),
            as_of: self.as_of,
        }
    }
}

/// A room as this node deals with it.
#[derive(Debug)]
pub(super) struct RoomNode {
    pub(super) name: RoomId,
    pub(super) keys: RoomKeys,
    picture: ArcSwapOption<Picture>,
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
    pub(super) joins: mpsc::Sender<Joining>,
    pub(super) asks: mpsc::Sender<Asking>,
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
    server: Option<ropeline_core::ServerId>,
    places: Bits,
}

impl RoomNode {
    pub(super) fn new(
        name: RoomId,
        node: &str,
        joins: mpsc::Sender<Joining>,
        asks: mpsc::Sender<Asking>,
    ) -> Self {
        Self {
            keys: RoomKeys::of(&name, node),
            name,
            picture: ArcSwapOption::empty(),
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
            joins,
            asks,
        }
    }

    pub(super) fn picture(&self) -> Option<Arc<Picture>> {
        self.picture.load_full()
    }

    pub(super) fn view(&self) -> Option<Arc<View>> {
        self.picture().map(|picture| Arc::clone(&picture.view))
    }

    /// The version of the picture; 0 without one.
    pub(super) fn version(&self) -> u64 {
        let picture = self.picture.load();
        picture.as_ref().map_or(0, |p| p.view.header.version)
    }

    pub(super) fn is_live(&self) -> bool {
        let picture = self.picture.load();
        let state = picture.as_ref().map(|p| p.view.header.state);
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

    /// Puts a picture in the place of an older one. What ended stays ended, so a newer answer may be laid over
    /// any picture of the same epoch between the version that was asked about and its own.
    pub(super) fn publish(&self, looked: &Looked, asked: Asked, aside: &[u64]) {
        let mut pace = lock(&self.pace);
        let old = self.picture();
        let header = &looked.header;
        let clock = asked.clock(looked.as_of, old.as_deref());
        if let Some(old) = &old {
            let known = &old.view.header;
            let older = (header.epoch, header.version, asked.from)
                < (known.epoch, known.version, old.fresh_at);
            if older || (header.epoch != known.epoch && !looked.is_snapshot()) {
                return;
            }
        }
        let old = old.filter(|old| old.view.header.epoch == header.epoch);
        let mut view = looked.view();
        view.header.clock = clock;
        let mut set_aside = old
            .as_ref()
            .map(|old| old.set_aside.clone())
            .unwrap_or_default();
        if let (Some(old), false) = (&old, looked.is_snapshot()) {
            (view.gone, view.done) = (old.view.gone.clone(), old.view.done.clone());
        }
        let base = view.header.base.0;
        if let Since::Log {
            gone,
            done,
            set_aside: new,
        } = &looked.since
        {
            insert(&mut view.gone, gone);
            insert(&mut view.done, done);
            insert(&mut set_aside, new);
        }
        insert(&mut set_aside, aside);
        for bits in [&mut view.gone, &mut view.done, &mut set_aside] {
            bits.forget_below(base);
        }
        pace.observe(&view);
        view.pace = *pace;
        let picture = Picture {
            view: Arc::new(view),
            fresh_at: asked.from,
            next_due: looked.next_due,
            set_aside,
        };
        self.picture.store(Some(Arc::new(picture)));
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

fn insert(bits: &mut Bits, ordinals: &[u64]) {
    for ordinal in ordinals {
        bits.insert(*ordinal);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
