//! The list of all rooms, which has a key of its own and may be on another server than they are.

use redis::Cmd;
use ropeline_core::RoomId;

use super::{
    keys::ROOMS,
    slot::Slot,
    transit::{Failed, Transit},
};

impl Transit {
    /// The rooms on the list.
    pub(super) async fn listed(&self) -> Result<Vec<RoomId>, Failed> {
        let names: Vec<String> = self.feed.query(slot(), &about("SMEMBERS")).await?;
        let rooms = names.iter().filter_map(|name| RoomId::parse(name).ok());
        Ok(rooms.collect())
    }

    /// Puts a room on the list.
    pub(super) async fn list(&self, room: &RoomId) -> Result<(), Failed> {
        let add = about("SADD").arg(room.as_str()).clone();
        self.feed.query(slot(), &add).await
    }

    /// Takes a room off the list.
    pub(super) async fn unlist(&self, room: &RoomId) -> Result<(), Failed> {
        let remove = about("SREM").arg(room.as_str()).clone();
        self.feed.query(slot(), &remove).await
    }
}

/// Where the list is.
pub(super) fn slot() -> Slot {
    Slot::of(ROOMS)
}

fn about(command: &str) -> Cmd {
    redis::cmd(command).arg(ROOMS).clone()
}
