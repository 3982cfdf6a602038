//! A room as one node deals with it.

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use arc_swap::ArcSwapOption;
use ropeline_core::{
    Bits, Holder, Located, Ordinal, Pace, RoomId, RoomState, ServerId, Standing, Timestamp, View,
};
use tokio::{sync::Notify, time::Instant};

use super::{
    away::Away,
    keys::RoomKeys,
    picture::{Asked, Looked, Picture},
    pump::{Asking, Joining},
    recent::Recent,
};
use crate::loops::Queues;

/// Marks that may wait to be sent; more are dropped, and the next poll marks again.
const MARKS_MAX: usize = 1_000_000;
/// A room that is restored gives no ordinal that another node may have given since this one has seen the room last: it
/// leaves out at least this many, or twice as many as were given in the second before.
const RESERVE_MIN: u64 = 20;

/// A room as this node deals with it.
#[derive(Debug)]
pub(super) struct RoomNode {
    pub(super) name: RoomId,
    pub(super) keys: RoomKeys,
    /// What this node knows, and calls with.
    picture: ArcSwapOption<Picture>,
    /// What it shows to visitors: while nodes merge, the picture from before, since the room may yet learn of endings
    /// that some visitors have seen.
    shown: ArcSwapOption<Picture>,
    pub(super) away: Away,
    /// Held while a picture is put in the place of another.
    pace: Mutex<Pace>,
    marks: Mutex<Marks>,
    confirmed: Mutex<Confirmed>,
    recent: Mutex<Recent>,
    /// How many ordinals may have been given that this node does not know of.
    reserve: AtomicU64,
    looked_at: AtomicU64,
    settled_at: AtomicU64,
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
            shown: ArcSwapOption::empty(),
            away: Away::default(),
            pace: Mutex::default(),
            marks: Mutex::default(),
            confirmed: Mutex::default(),
            recent: Mutex::default(),
            reserve: AtomicU64::new(RESERVE_MIN),
            looked_at: AtomicU64::new(0),
            settled_at: AtomicU64::new(0),
            unsettled: AtomicBool::new(false),
            nudge: Notify::new(),
            healing: tokio::sync::Mutex::default(),
            refreshing: tokio::sync::Mutex::default(),
            refreshes: Refreshes::default(),
            joins: Queues::default(),
            asks: Queues::default(),
        }
    }

    /// A room as this node knew it when it was stopped.
    pub(super) fn remembered(name: RoomId, node: &str, view: &Arc<View>, reserve: u64) -> Self {
        let room = Self {
            reserve: AtomicU64::new(reserve),
            ..Self::new(name, node)
        };
        room.recall(view, Timestamp(0));
        room
    }

    pub(super) fn picture(&self) -> Option<Arc<Picture>> {
        self.picture.load_full()
    }

    /// Something of the picture, without a count of who has it that all cores would write to.
    pub(super) fn with_picture<T>(&self, then: impl FnOnce(&Picture) -> T) -> Option<T> {
        self.picture.load().as_deref().map(then)
    }

    /// Something of the picture that visitors are shown.
    pub(super) fn with_shown<T>(&self, then: impl FnOnce(&Picture) -> T) -> Option<T> {
        self.shown.load().as_deref().map(then)
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

    /// Whether the room, or this node, may have missed something: then this node has to merge what it knows.
    pub(super) fn must_merge(&self, looked: &Looked, term: u64) -> bool {
        let known = self.picture.load();
        let known = known.as_ref().map(|known| &known.view.header.server);
        let other = known.is_some_and(|known| *known != looked.header.server);
        other || looked.is_elsewhere() || term > looked.header.term
    }

    /// Whether news are of the generation that this node knows.
    pub(super) fn knows_generation(&self, news: &Looked) -> bool {
        let server = self.with_picture(|known| known.view.header.server == news.header.server);
        server.unwrap_or_default()
    }

    /// What this node knows of the room, with the highest ordinal that it has acknowledged, and the term of the server as
    /// it knows it now.
    pub(super) fn memory(&self, term: Option<u64>) -> Option<Arc<View>> {
        let mut memory = View::clone(&*self.view()?);
        let header = &mut memory.header;
        header.issued = header.issued.max(lock(&self.recent).highest);
        header.term = term.unwrap_or(header.term);
        Some(Arc::new(memory))
    }

    /// As [`Self::memory`], for a room that the store has lost: it leaves out the ordinals that may have been given since
    /// this node has seen the room last, and acknowledged by a node that is gone too.
    pub(super) fn last_memory(&self, term: u64) -> Option<Arc<View>> {
        let mut memory = View::clone(&*self.memory(Some(term))?);
        memory.header.issued.0 += self.reserve.load(Ordering::Acquire);
        Some(Arc::new(memory))
    }

    /// For how long joins are held, if they are.
    pub(super) fn joins_held_for(&self, clock: Timestamp) -> Option<Duration> {
        let view = self.view()?;
        let (now, until) = (view.now(clock), view.header.joins_held_until);
        (now < until).then(|| now.until(until))
    }

    /// Forgets a room that gave way to one which came from another store.
    pub(super) fn give_way_to(&self, looked: &Looked) {
        let known = self.view();
        if known.is_some_and(|known| looked.replaced == Some(known.header.epoch)) {
            self.forget();
        }
    }

    /// Forgets what is known of the room.
    pub(super) fn forget(&self) {
        self.picture.store(None);
        self.shown.store(None);
        lock(&self.recent).clear();
        *lock(&self.confirmed) = Confirmed::default();
        *lock(&self.marks) = Marks::default();
    }

    /// Shows a picture that was known before.
    pub(super) fn recall(&self, view: &Arc<View>, fresh_at: Timestamp) {
        let picture = Arc::new(Picture {
            view: Arc::clone(view),
            fresh_at,
            next_due: None,
            set_aside: Bits::default(),
        });
        self.shown.store(Some(Arc::clone(&picture)));
        self.picture.store(Some(picture));
    }

    /// Puts a picture in the place of an older one.
    pub(super) fn publish(&self, looked: &Looked, asked: Asked, aside: &[u64]) {
        let mut pace = lock(&self.pace);
        let old = self.picture();
        if let Some(picture) = Picture::after(old.as_deref(), looked, asked, aside, &mut pace) {
            let deleted = |old: &Picture| picture.view.header.voids(old.view.header.epoch);
            if old.as_deref().is_some_and(deleted) {
                lock(&self.recent).clear();
            }
            let picture = Arc::new(picture);
            if !picture.is_being_merged() || self.shown.load().is_none() {
                self.shown.store(Some(Arc::clone(&picture)));
            }
            self.picture.store(Some(picture));
        }
    }

    /// Up to when this node knows that a place may be inside.
    pub(super) fn leased(&self, ordinal: Ordinal) -> Option<Timestamp> {
        let picture = self.picture()?;
        let passed = picture.view.locate(ordinal) == Located::PassedBy;
        (passed && !picture.set_aside.contains(ordinal.0)).then_some(picture.fresh_at)
    }

    /// Notes what a batch of joins is about to be answered with, which was given in the generation that `under` names.
    /// False if another generation has begun since: the room may lack these places, and they must not be acknowledged.
    pub(super) fn acknowledge(
        &self,
        under: Option<&ServerId>,
        issued: Ordinal,
        given: Vec<Holder>,
    ) -> bool {
        // Locked first: whoever begins another generation then sends these again, or they are refused here.
        let mut recent = lock(&self.recent);
        let stands = self.with_picture(|known| Some(&known.view.header.server) == under);
        if stands != Some(true) {
            return false;
        }
        recent.highest = recent.highest.max(issued);
        recent.add(given, Instant::now());
        true
    }

    /// What this node has acknowledged lately.
    pub(super) fn recent(&self) -> Vec<Holder> {
        lock(&self.recent).all(Instant::now())
    }

    /// Notes how many ordinals were given in the last second; how many may have been given that this node does not know of.
    /// One that knows the room from its record alone still leaves out as many as that says.
    pub(super) fn review_reserve(&self, given: u64) -> u64 {
        if self.with_picture(|known| known.fresh_at > Timestamp(0)) == Some(true) {
            let reserve = given.saturating_mul(2).max(RESERVE_MIN);
            self.reserve.store(reserve, Ordering::Release);
        }
        self.reserve.load(Ordering::Acquire)
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

    pub(super) fn note_settling(&self, clock: Timestamp) {
        self.settled_at.store(clock.0, Ordering::Relaxed);
    }

    /// Whether somebody is in the room and this node has not settled it for so long.
    pub(super) fn has_been_silent(&self, clock: Timestamp, longest: Duration) -> bool {
        let settled_at = Timestamp(self.settled_at.load(Ordering::Relaxed));
        let is_used = |view: &View| view.waiting() + view.inside + view.aside > 0;
        clock.since(settled_at) >= longest
            && self
                .with_picture(|picture| is_used(&picture.view))
                .unwrap_or_default()
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

    /// Holders of genuine tokens whose places have not ended, though the store says so: while places are lost, it may have
    /// given them to somebody else.
    pub(super) fn disputed<'a>(
        &self,
        standings: impl Iterator<Item = (&'a Holder, &'a Standing)>,
    ) -> Vec<Holder> {
        let Some(view) = self.view().filter(|view| view.header.lost.is_some()) else {
            return Vec::new();
        };
        let disputed = standings.filter(|(holder, standing)| {
            let ended = matches!(standing, Standing::Ended(_));
            ended && !matches!(view.locate(holder.ordinal), Located::Ended(_))
        });
        disputed.map(|(holder, _)| holder.clone()).collect()
    }

    /// Notes that the store has a place, which its holder may have brought back just now.
    pub(super) fn confirm(&self, holder: &Holder) {
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
        if confirmed.places.insert(holder.ordinal.0) {
            lock(&self.recent).add(vec![holder.clone()], Instant::now());
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use ropeline_core::{Bounds, Identity, Policy, Room, Visitor};

    use super::*;

    const CREATED: Timestamp = Timestamp(1_000);

    fn knowing(server: &str) -> RoomNode {
        let room = RoomNode::new(RoomId::parse("main").unwrap(), "node");
        know(&room, server);
        room
    }

    fn know(room: &RoomNode, server: &str) {
        let server = ServerId(server.into());
        let policy = Policy {
            every: Duration::from_secs(1),
            batch: Some(1),
            active_max: None,
            pass_ttl: Duration::from_secs(60),
            pass_max: Duration::ZERO,
            presence_ttl: Duration::ZERO,
            missed_turn_ttl: Duration::ZERO,
            waiting_max: 1_000,
            identity: Identity::Open,
        };
        let stored = Room::new(policy, server, CREATED, Bounds::default());
        room.recall(&Arc::new(stored.view(CREATED)), CREATED);
    }

    fn place(ordinal: u64) -> Holder {
        Holder {
            visitor: Visitor::parse(&format!("u:{ordinal}")).unwrap(),
            ordinal: Ordinal(ordinal),
        }
    }

    #[test]
    fn a_place_of_an_earlier_generation_is_not_acknowledged() {
        let room = knowing("first");
        let under = room.view().unwrap().header.server.clone();
        assert!(room.acknowledge(Some(&under), Ordinal(1), vec![place(1)]));
        know(&room, "second");
        assert!(!room.acknowledge(Some(&under), Ordinal(2), vec![place(2)]));
        assert_eq!(room.recent(), [place(1)]);
        assert_eq!(room.memory(None).unwrap().header.issued, Ordinal(1));
    }

    #[test]
    fn a_room_that_is_restored_leaves_out_what_others_may_have_given_meanwhile() {
        let room = knowing("first");
        let issued = |room: &RoomNode| room.last_memory(0).unwrap().header.issued.0;
        assert_eq!(issued(&room), RESERVE_MIN);
        room.review_reserve(1_000);
        assert_eq!(issued(&room), 2_000);
        room.review_reserve(0);
        assert_eq!(issued(&room), RESERVE_MIN);
    }

    #[test]
    fn a_room_known_from_its_record_alone_leaves_out_what_that_says() {
        let known = knowing("first").view().unwrap();
        let room = RoomNode::remembered(RoomId::parse("main").unwrap(), "node", &known, 5_000);
        assert_eq!(room.review_reserve(0), 5_000);
        assert_eq!(room.last_memory(0).unwrap().header.issued, Ordinal(5_000));
    }
}
