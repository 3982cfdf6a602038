//! The part of a turn that holds a room's lock, for whoever times it.

use ropeline_core::{Command, Room, RoomId, Timestamp};

use super::{
    commit::{apply, collect, look_round, publish},
    rooms::Handle,
    rows::Batch,
};

/// A room as the writer has it, without a file.
#[derive(Debug)]
pub struct Turning {
    room: Handle,
    rows: Batch,
}

impl Turning {
    /// Takes over a room.
    pub fn of(room: Room, clock: Timestamp) -> Self {
        Self {
            room: Handle::new(RoomId::main(), 0, room, clock),
            rows: Batch::default(),
        }
    }

    /// Does to the room what a turn of the writer does under its lock: carries out a command, settles until nothing is
    /// left to do, encodes what changed, and shows it. Between the last two the writer lets go of the room and writes to disk.
    pub fn turn(&mut self, command: Command, clock: Timestamp) {
        apply(&mut self.room.state(), command, clock);
        look_round(&self.room, clock);
        let collected = collect(&self.room, clock, &mut self.rows);
        publish(&self.room, collected);
    }

    /// Drops the rows that would have been written; says whether there were any.
    pub fn forget_rows(&mut self) -> bool {
        !std::mem::take(&mut self.rows).is_empty()
    }

    /// How many are inside.
    pub fn inside(&self) -> u64 {
        self.room.view().inside
    }
}
