//! What a commit does for one room: apply, collect what changed, write it as rows, publish it.

use std::time::Duration;

use ropeline_core::{BLOCK_BITS, Changes, Command, Outcome, RoomState, Timestamp, View};

use super::{
    rooms::{Handle, SavedMarks, State},
    rows::{Batch, Kind},
};

/// While somebody has a deadline, the file is at most this far behind in time.
const TIME_BEHIND_MAX: Duration = Duration::from_secs(1);
/// Marks that one transition takes at the most, so that the room is never locked for long.
const MARKS_PER_CALL: usize = 1_000;

/// Applies a command and settles until nothing is left to do. What it changed is in flight before the room
/// is unlocked, so nobody can see it before it is written.
pub(super) fn apply(state: &mut State, command: Command, clock: Timestamp) -> Outcome {
    let outcome = state.room.apply(command, clock);
    let mut more = outcome.more;
    while more {
        more = state.room.apply(Command::Settle, clock).more;
    }
    take_changes(state);
    outcome
}

fn take_changes(state: &mut State) {
    let fresh = state.room.take_changes();
    state.in_flight.extend(&fresh.places);
    let unsaved = &mut state.unsaved;
    if unsaved.is_empty() {
        *unsaved = fresh;
        return;
    }
    unsaved.places.extend(fresh.places);
    unsaved.renewed.extend(fresh.renewed);
    unsaved.gone_blocks.extend(fresh.gone_blocks);
    unsaved.done_blocks.extend(fresh.done_blocks);
    unsaved.imported_blocks.extend(fresh.imported_blocks);
    unsaved.claimed_blocks.extend(fresh.claimed_blocks);
    unsaved.seen_blocks.extend(fresh.seen_blocks);
    unsaved.keys.extend(fresh.keys);
}

/// Takes in the marks and settles what is due.
pub(super) fn look_round(room: &Handle, clock: Timestamp) {
    if room.check_thawed().is_err() {
        room.take_marks();
        return;
    }
    for marks in room.take_marks().chunks(MARKS_PER_CALL) {
        apply(&mut room.state(), Command::Mark(marks.to_vec()), clock);
    }
    let mut state = room.state();
    if state
        .room
        .next_due()
        .is_some_and(|due| due <= state.room.now(clock))
    {
        apply(&mut state, Command::Settle, clock);
    }
}

/// What a commit does for one room.
pub(super) struct Collected {
    /// Shown once it is written.
    view: View,
    /// How far the file follows the room then; `None` if nothing is written.
    written: Option<SavedMarks>,
}

/// Puts what changed in a room into the batch.
pub(super) fn collect(room: &Handle, clock: Timestamp, batch: &mut Batch) -> Collected {
    let mut guard = room.state();
    let state = &mut *guard;
    take_changes(state);
    let someone_has_a_deadline = state.frozen.is_none() && state.room.next_due().is_some();
    let changed = state.saved.is_none_or(|saved| {
        let behind = someone_has_a_deadline && clock.since(saved.at) >= TIME_BEHIND_MAX;
        behind || saved.version != state.room.header().version
    });
    let changed = changed || state.frozen_unsaved || !state.unsaved.is_empty();
    let written = changed.then(|| {
        encode(room, state, batch);
        SavedMarks::of(&state.room, clock)
    });
    let mut view = state.room.view(clock);
    state.pace.observe(&view);
    view.pace = state.pace;
    Collected { view, written }
}

fn encode(room: &Handle, state: &State, batch: &mut Batch) {
    let saved = state.saved.unwrap_or_default();
    let (frozen, changes, state) = (state.frozen.as_ref(), &state.unsaved, &state.room);
    let (number, header) = (room.number, state.header());
    if header.state == RoomState::Deleted {
        batch.purge_room(number);
    } else if header.floor > saved.floor {
        batch.purge_places(number, header.floor);
    }
    if header.base > saved.base {
        let last = (header.base.0 / BLOCK_BITS).saturating_sub(1);
        for kind in [Kind::Gone, Kind::Done, Kind::Imported, Kind::Claimed] {
            batch.purge(number, kind, last);
        }
    }
    if header.presence.number > saved.presence_round && header.presence.number >= 3 {
        batch.purge(number, Kind::Seen, header.presence.number - 3);
    }
    if header.keys.number > saved.key_round && header.keys.number >= 2 {
        batch.purge(number, Kind::Key, header.keys.number - 2);
    }
    batch.reserve_places(changes.places.len() + changes.renewed.len());
    let places = changes.places.iter().chain(&changes.renewed);
    for (ordinal, place) in state.saved_places(places.copied()) {
        batch.place(number, ordinal, place);
    }
    let sets = [
        (Kind::Gone, &changes.gone_blocks, state.gone()),
        (Kind::Done, &changes.done_blocks, state.done()),
        (Kind::Imported, &changes.imported_blocks, state.imported()),
        (Kind::Claimed, &changes.claimed_blocks, state.claimed()),
    ];
    for (kind, blocks, bits) in sets {
        for block in blocks {
            batch.block(number, kind, &[*block], &bits.block(*block));
        }
    }
    for (round, block) in &changes.seen_blocks {
        if let Some(seen) = state.seen(*round) {
            batch.block(number, Kind::Seen, &[*round, *block], &seen.block(*block));
        }
    }
    for key in &changes.keys {
        batch.join_key(number, header.keys.number, *key);
    }
    batch.header(number, &room.name, header, frozen);
}

/// What was written may be seen.
pub(super) fn publish(room: &Handle, collected: Collected) {
    if let Some(written) = collected.written {
        let mut state = room.state();
        state.in_flight.clear();
        state.unsaved = Changes::default();
        state.frozen_unsaved = false;
        state.saved = Some(written);
    }
    room.publish(collected.view);
}

#[cfg(test)]
mod tests {
    use ropeline_core::{
        Bounds, Holder, Identity, Joiner, Ordinal, Policy, Room, RoomId, ServerId, UserId, Visitor,
    };

    use super::{
        super::{load::Loaded, rooms::Rooms},
        *,
    };
    use crate::{Clock, SystemClock};

    const CLOCK: Timestamp = Timestamp(1_700_000_000_000);

    fn holder(name: &str, ordinal: u64) -> Holder {
        let visitor = Visitor::stated(&UserId::parse(name).unwrap());
        Holder {
            visitor,
            ordinal: Ordinal(ordinal),
        }
    }

    fn room_for_one() -> Handle {
        let policy = Policy {
            every: Duration::from_secs(10),
            batch: None,
            active_max: Some(1),
            pass_ttl: Duration::from_secs(60),
            pass_max: Duration::ZERO,
            presence_ttl: Duration::ZERO,
            missed_turn_ttl: Duration::ZERO,
            waiting_max: 10,
            identity: Identity::Open,
        };
        let room = Room::new(policy, ServerId("test".into()), CLOCK, Bounds::default());
        Handle::new(RoomId::main(), 0, room, CLOCK)
    }

    #[test]
    fn nobody_is_let_through_before_the_admission_is_written() {
        let handle = room_for_one();
        let join = ["ann", "bob"].map(|name| Joiner {
            visitor: holder(name, 0).visitor,
            key: None,
        });
        apply(&mut handle.state(), Command::Join(join.to_vec()), CLOCK);
        publish(&handle, collect(&handle, CLOCK, &mut Batch::default()));
        assert!(handle.renew(&holder("ann", 1), CLOCK).is_some());
        apply(&mut handle.state(), Command::Leave(holder("ann", 1)), CLOCK);
        for written in [false, true] {
            let bob = holder("bob", 2);
            assert_eq!(handle.renew(&bob, CLOCK).is_some(), written);
            assert_eq!(handle.durable_standing(&bob, CLOCK).is_some(), written);
            publish(&handle, collect(&handle, CLOCK, &mut Batch::default()));
        }
    }

    #[test]
    fn a_room_that_was_loaded_is_not_written_again_until_it_changes() {
        let clock = SystemClock::start();
        let room = room_for_one().state().room.clone();
        let loaded = Loaded {
            name: RoomId::main(),
            number: 0,
            room,
            frozen: None,
        };
        let rooms = Rooms::of(vec![loaded], &clock);
        let handle = rooms.get(&RoomId::main()).unwrap();
        let mut batch = Batch::default();
        collect(&handle, clock.now(), &mut batch);
        assert!(batch.is_empty());
        apply(&mut handle.state(), Command::Stock(None), clock.now());
        collect(&handle, clock.now(), &mut batch);
        assert!(batch.is_empty(), "what is so already is not written");
        apply(&mut handle.state(), Command::Pause, clock.now());
        collect(&handle, clock.now(), &mut batch);
        assert!(!batch.is_empty());
    }

    #[test]
    fn a_renewal_that_is_not_written_keeps_nobody_out() {
        let handle = room_for_one();
        let join = Joiner {
            visitor: holder("ann", 0).visitor,
            key: None,
        };
        apply(&mut handle.state(), Command::Join(vec![join]), CLOCK);
        publish(&handle, collect(&handle, CLOCK, &mut Batch::default()));
        let later = CLOCK + Duration::from_secs(5);
        for _ in 0..2 {
            assert!(handle.renew(&holder("ann", 1), later).is_some());
            collect(&handle, later, &mut Batch::default());
        }
    }
}
