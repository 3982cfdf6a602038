//! Rooms that go to another store, or come from one.

use std::sync::Arc;

use ropeline_core::{
    BLOCK_BITS, Bits, Bounds, Command, Header, Ordinal, Room, RoomId, RoomState, Saved, ServerId,
    Timestamp,
};

use super::{
    commit::apply,
    load::Loaded,
    rooms::Handle,
    rows::{Batch, Kind, RoomNumber},
    writer::{HOST, Turn},
};
use crate::{Freeze, Over, StoreError};

/// What is done to a room that goes or comes. Each says whether it did something.
#[derive(Debug)]
pub(super) enum Deed {
    Freeze(Arc<Handle>, Freeze),
    Thaw(Arc<Handle>),
    Adopt(Box<Arrival>),
    Discard(RoomId),
}

/// A room that comes from another store.
#[derive(Debug)]
pub(super) struct Arrival {
    pub(super) room: RoomId,
    pub(super) saved: Saved,
    pub(super) from: String,
    pub(super) over: Over,
}

/// Settles a room for the last time, and lets nothing change it from then on.
pub(super) fn freeze(room: &Handle, why: Freeze, clock: Timestamp) {
    let mut state = room.state();
    if state.frozen.is_none() {
        apply(&mut state, Command::Settle, clock);
    }
    (state.frozen, state.frozen_unsaved) = (Some(why), true);
}

/// Lets a room go on from where it was; says whether it was frozen.
pub(super) fn thaw(room: &Handle, clock: Timestamp) -> bool {
    let mut state = room.state();
    let was_frozen = state.frozen.take().is_some();
    if was_frozen {
        state.room.resume_at(clock);
        state.frozen_unsaved = true;
    }
    was_frozen
}

/// Puts an arrival into the batch, in the place of what it may replace; `None` if it may not.
pub(super) fn adopt(
    arrival: Arrival,
    known: Option<&Handle>,
    number: RoomNumber,
    (bounds, clock): (Bounds, Timestamp),
    turn: &mut Turn,
) -> Result<Option<Arc<Handle>>, StoreError> {
    let Arrival {
        room: name,
        mut saved,
        from,
        over,
    } = arrival;
    if known.is_some_and(|known| !may_replace(known, &saved.header, over)) {
        return Ok(None);
    }
    let version = known.map_or(0, |known| known.view().header.version);
    saved.header.version = saved.header.version.max(version) + 1;
    saved.header.server = ServerId(HOST.into());
    let room = Room::load(saved.clone(), bounds).map_err(|error| not_a_room(&error))?;
    let frozen = Freeze::Arriving(from);
    write(&mut turn.batch, number, &name, &saved, &frozen);
    if let Some(known) = known {
        turn.batch.forget_room(known.number);
        turn.replaced.push(known.number);
    }
    let loaded = Loaded {
        name,
        number,
        room,
        frozen: Some(frozen),
    };
    Ok(Some(Arc::new(Handle::written(loaded, clock))))
}

/// Whether an arrival may take the place of a room.
fn may_replace(known: &Handle, arriving: &Header, over: Over) -> bool {
    let state = known.state();
    let header = state.room.header();
    let empty = header.issued == Ordinal(0) && over == Over::Empty;
    match &state.frozen {
        Some(Freeze::Arriving(_)) => true,
        Some(Freeze::Left(_)) => header.epoch == arriving.epoch || empty,
        _ if header.state == RoomState::Deleted => {
            header.epoch <= arriving.epoch || over == Over::Empty
        }
        _ => empty,
    }
}

/// Writes a whole room.
fn write(batch: &mut Batch, number: RoomNumber, name: &RoomId, saved: &Saved, frozen: &Freeze) {
    for place in &saved.places {
        let live = Some((place.visitor.as_str(), place.live));
        batch.place(number, place.ordinal, live);
    }
    for (kind, bits) in [
        (Kind::Gone, &saved.gone),
        (Kind::Done, &saved.done),
        (Kind::Imported, &saved.imported),
        (Kind::Claimed, &saved.claimed),
    ] {
        for block in blocks(bits) {
            batch.block(number, kind, &[block], &bits.block(block));
        }
    }
    for (round, bits) in &saved.seen {
        for block in blocks(bits) {
            batch.block(number, Kind::Seen, &[*round, block], &bits.block(block));
        }
    }
    for (round, key) in &saved.keys {
        batch.join_key(number, *round, *key);
    }
    batch.header(number, name, &saved.header, Some(frozen));
}

/// The blocks in which a set has members.
fn blocks(bits: &Bits) -> Vec<u64> {
    let mut blocks: Vec<_> = bits
        .iter_from(0)
        .map(|member| member / BLOCK_BITS)
        .collect();
    blocks.dedup();
    blocks
}

fn not_a_room(error: &ropeline_core::LoadError) -> StoreError {
    StoreError::Unavailable(format!("what arrived is not a room: {error}").into())
}
