//! Making a room that is not there: it may never have been, or Redis may have forgotten it.

use std::time::Duration;

use ropeline_core::Ordinal;
use tokio::time::Instant;

use super::{
    Inner, StoreTime,
    room::RoomNode,
    transit::{Failed, Known},
};

/// A node that remembers a room restores it within this, if it can reach Redis at all.
const RESTORED_WITHIN: Duration = Duration::from_secs(1);
/// How often it is looked meanwhile.
const LOOK_EVERY: Duration = Duration::from_millis(100);

impl Inner {
    /// Waits for others to restore a room that is not there; gives the last ordinal that it may have given before.
    ///
    /// If it may have been there, ordinals begin far behind any that it can have given, so that none is ever given to
    /// two visitors, whoever remembers the room later.
    pub(super) async fn last_before(&self, room: &RoomNode) -> Result<Ordinal, Failed> {
        if self.transit.time == StoreTime::Given || self.is_there(room).await? {
            return Ok(Ordinal(0));
        }
        let deadline = Instant::now() + RESTORED_WITHIN;
        while Instant::now() < deadline {
            tokio::time::sleep(LOOK_EVERY).await;
            if self.is_there(room).await? {
                return Ok(Ordinal(0));
            }
        }
        let listed = self.transit.listed().await?;
        let forgotten = listed.is_empty() && self.has_past;
        let may_have_been = forgotten || listed.contains(&room.name);
        Ok(if may_have_been {
            Ordinal(self.transit.bounds.base_trail)
        } else {
            Ordinal(0)
        })
    }

    async fn is_there(&self, room: &RoomNode) -> Result<bool, Failed> {
        let transit = &self.transit;
        let looked = transit.look(&transit.feed, room, Known::Nothing).await?;
        Ok(looked.is_some())
    }
}
