//! The rooms of a store, as the writer and those who ask share them.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use arc_swap::ArcSwap;
use ropeline_core::{
    Changes, Holder, Ordinal, Pace, Pass, Room, RoomId, RoomState, Standing, Timestamp, View,
    Visitor,
};

use super::{load::Loaded, rows::RoomNumber};
use crate::{Clock, Found, Freeze, Health, StoreError};

/// Marks that may wait for the writer; more are dropped, and the next poll marks again.
const MARKS_MAX: usize = 1_000_000;

/// The rooms by name. The map is replaced as a whole when a room is made, which is rare.
#[derive(Debug)]
pub(super) struct Rooms {
    by_name: ArcSwap<BTreeMap<RoomId, Arc<Handle>>>,
    down: ArcSwap<Option<Down>>,
}

/// Since when and why the file cannot be written.
#[derive(Debug, Clone)]
struct Down {
    since: Timestamp,
    reason: Arc<str>,
}

impl Rooms {
    pub(super) fn of(loaded: Vec<Loaded>, clock: &dyn Clock) -> Self {
        let handles = loaded.into_iter().map(|loaded| {
            let handle = Handle::written(loaded, clock.now());
            (handle.name.clone(), Arc::new(handle))
        });
        Self {
            by_name: ArcSwap::from_pointee(handles.collect()),
            down: ArcSwap::from_pointee(None),
        }
    }

    /// A room that was not deleted.
    pub(super) fn live(&self, name: &RoomId) -> Option<Arc<Handle>> {
        self.with_live(name, Arc::clone)
    }

    /// As [`Self::live`], without a count of who has it that all cores would write to.
    pub(super) fn with_live<T>(
        &self,
        name: &RoomId,
        then: impl FnOnce(&Arc<Handle>) -> T,
    ) -> Option<T> {
        let rooms = self.by_name.load();
        rooms.get(name).filter(|room| room.is_live()).map(then)
    }

    pub(super) fn get(&self, name: &RoomId) -> Option<Arc<Handle>> {
        self.by_name.load().get(name).cloned()
    }

    pub(super) fn all(&self) -> Vec<Arc<Handle>> {
        self.by_name.load().values().cloned().collect()
    }

    pub(super) fn names(&self) -> Vec<RoomId> {
        let rooms = self.by_name.load();
        let live = rooms.values().filter(|room| room.is_live());
        live.map(|room| room.name.clone()).collect()
    }

    /// How many places are live in all rooms.
    pub(super) fn live_places(&self) -> u64 {
        let rooms = self.by_name.load();
        let live = rooms
            .values()
            .map(|room| room.view.load())
            .map(|view| view.waiting() + view.inside + view.aside + view.door);
        live.sum()
    }

    pub(super) fn add(&self, handle: Arc<Handle>) {
        let mut rooms = BTreeMap::clone(&self.by_name.load());
        rooms.insert(handle.name.clone(), handle);
        self.by_name.store(Arc::new(rooms));
    }

    pub(super) fn remove(&self, name: &RoomId) {
        let mut rooms = BTreeMap::clone(&self.by_name.load());
        rooms.remove(name);
        self.by_name.store(Arc::new(rooms));
    }

    pub(super) fn set_up(&self) {
        self.down.store(Arc::new(None));
    }

    pub(super) fn set_down(&self, since: Timestamp, reason: &str) {
        let since = self.down_since().unwrap_or(since);
        self.down.store(Arc::new(Some(Down {
            since,
            reason: reason.into(),
        })));
    }

    pub(super) fn down_since(&self) -> Option<Timestamp> {
        self.down.load().as_ref().as_ref().map(|down| down.since)
    }

    pub(super) fn health(&self) -> Health {
        match self.down.load().as_ref() {
            None => Health::Up,
            Some(down) => Health::Down(Arc::clone(&down.reason)),
        }
    }
}

/// One room.
#[derive(Debug)]
pub(super) struct Handle {
    pub(super) name: RoomId,
    pub(super) number: RoomNumber,
    /// Held for microseconds at a time, never during a write to disk.
    state: Mutex<State>,
    /// What is durable, for those who ask.
    view: ArcSwap<View>,
    /// Places heard of since the writer last looked.
    marks: Mutex<Vec<Ordinal>>,
}

#[derive(Debug)]
pub(super) struct State {
    pub(super) room: Room,
    /// Places whose change is not on disk yet. What is known of them must not be shown.
    pub(super) in_flight: InFlight,
    /// What has changed and is not on disk, because it could not be written.
    pub(super) unsaved: Changes,
    pub(super) pace: Pace,
    /// Why the room takes no change, if it does not.
    pub(super) frozen: Option<Freeze>,
    /// Whether that is to be written.
    pub(super) frozen_unsaved: bool,
    /// What the file has of the room, for knowing what to purge and when to write the time again; `None`
    /// before it was first written.
    pub(super) saved: Option<SavedMarks>,
}

/// A set of places that comes in runs of rising ordinals and goes as a whole.
#[derive(Debug, Default)]
pub(super) struct InFlight(Vec<Ordinal>);

impl InFlight {
    pub(super) fn extend(&mut self, places: &[Ordinal]) {
        if places.is_empty() {
            return;
        }
        self.0.extend_from_slice(places);
        // Not the unstable one: this one takes runs as they are.
        self.0.sort();
        self.0.dedup();
    }

    pub(super) fn contains(&self, place: Ordinal) -> bool {
        self.0.binary_search(&place).is_ok()
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

/// How far the file has followed the room.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct SavedMarks {
    pub(super) floor: Ordinal,
    pub(super) base: Ordinal,
    pub(super) presence_round: u64,
    pub(super) key_round: u64,
    pub(super) version: u64,
    pub(super) at: Timestamp,
}

impl SavedMarks {
    pub(super) fn of(room: &Room, at: Timestamp) -> Self {
        let header = room.header();
        Self {
            floor: header.floor,
            base: header.base,
            presence_round: header.presence.number,
            key_round: header.keys.number,
            version: header.version,
            at,
        }
    }
}

impl Handle {
    pub(super) fn new(name: RoomId, number: RoomNumber, room: Room, clock: Timestamp) -> Self {
        let view = ArcSwap::from_pointee(room.view(clock));
        let state = State {
            room,
            in_flight: InFlight::default(),
            unsaved: Changes::default(),
            pace: Pace::default(),
            frozen: None,
            frozen_unsaved: false,
            saved: None,
        };
        Self {
            name,
            number,
            state: Mutex::new(state),
            view,
            marks: Mutex::new(Vec::new()),
        }
    }

    /// A room that is in the file as it is, and goes on from now.
    pub(super) fn written(loaded: Loaded, clock: Timestamp) -> Self {
        let Loaded {
            name,
            number,
            mut room,
            frozen,
        } = loaded;
        room.resume_at(clock);
        let written = SavedMarks::of(&room, clock);
        let handle = Self::new(name, number, room, clock);
        let mut state = handle.state();
        (state.saved, state.frozen) = (Some(written), frozen);
        drop(state);
        handle
    }

    /// Refuses whatever would change a frozen room.
    pub(super) fn check_thawed(&self) -> Result<(), StoreError> {
        match &self.state().frozen {
            None => Ok(()),
            Some(why) => Err(StoreError::Frozen {
                room: self.name.clone(),
                why: why.clone(),
            }),
        }
    }

    fn is_live(&self) -> bool {
        self.view.load().header.state != RoomState::Deleted
    }

    pub(super) fn view(&self) -> Arc<View> {
        self.view.load_full()
    }

    pub(super) fn publish(&self, view: View) {
        self.view.store(Arc::new(view));
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Renews a pass that is live and durable, without the writer.
    pub(super) fn renew(&self, holder: &Holder, clock: Timestamp) -> Option<Pass> {
        let mut state = self.state();
        if state.frozen.is_some() || state.in_flight.contains(holder.ordinal) {
            return None;
        }
        state.room.renew_pass(holder, clock)
    }

    /// Whether what is known of a visitor is on the disk.
    pub(super) fn is_durable(&self, visitor: &Visitor) -> bool {
        let state = self.state();
        let place = state.room.find(visitor);
        place.is_none_or(|ordinal| !state.in_flight.contains(ordinal))
    }

    /// The live place of a visitor.
    pub(super) fn find(&self, visitor: &Visitor, clock: Timestamp) -> Option<Found> {
        let room = &self.state().room;
        let ordinal = room.find(visitor)?;
        let holder = Holder {
            visitor: visitor.clone(),
            ordinal,
        };
        let standing = room.standing(&holder, clock);
        Some(Found { ordinal, standing })
    }

    /// Where a holder stands, unless that is not durable yet.
    pub(super) fn durable_standing(&self, holder: &Holder, clock: Timestamp) -> Option<Standing> {
        let state = self.state();
        if state.in_flight.contains(holder.ordinal) {
            return None;
        }
        Some(state.room.standing(holder, clock))
    }

    pub(super) fn mark(&self, ordinal: Ordinal) {
        let mut marks = self.marks.lock().unwrap_or_else(PoisonError::into_inner);
        if marks.len() < MARKS_MAX {
            marks.push(ordinal);
        }
    }

    pub(super) fn take_marks(&self) -> Vec<Ordinal> {
        std::mem::take(&mut *self.marks.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
