//! The end of a room, and a new beginning under the same name.

use std::{sync::Arc, time::Duration};

use super::{Changes, Header, Reply, Room, RoomState};
use crate::{Bits, Policy, Reasons, Timestamp, keys::KeyMemory};

impl Room {
    /// Everybody out, and nothing remembered but the name and the numbers: tokens given so far stay ended.
    pub(super) fn delete(&mut self, now: Timestamp) -> Reply {
        self.header.deleted_until = self.header.epoch.max(now);
        self.empty(now);
        Reply::Done
    }

    /// As [`Self::delete`], where another store has deleted the room already.
    pub(super) fn empty(&mut self, now: Timestamp) {
        self.reset(now);
        self.header.state = RoomState::Deleted;
        self.header.paused = false;
        self.header.digest = None;
        (self.header.stock, self.header.stock_version) = (None, 0);
        (self.gone, self.done) = (Bits::default(), Bits::default());
        self.reasons = Reasons::default();
        (self.imported, self.claimed) = (Bits::default(), Bits::default());
        self.seen = Default::default();
        self.keys = KeyMemory::default();
        self.confirmed = Bits::default();
        self.changes = Changes::default();
    }

    /// A deleted room begins again with a later epoch, so that no token from before it was deleted is good for it.
    pub(super) fn create(
        &mut self,
        policy: Arc<Policy>,
        digest: Option<String>,
        now: Timestamp,
    ) -> Reply {
        if !self.is_deleted() {
            return Reply::Created(false);
        }
        let Header {
            server,
            generation,
            term,
            deleted_until,
            version,
            clock,
            ..
        } = self.header.clone();
        self.header = Header {
            epoch: now.max(deleted_until + Duration::from_millis(1)),
            digest,
            generation,
            term,
            deleted_until,
            version,
            clock,
            ..Header::new(policy, server, now)
        };
        self.visible = true;
        Reply::Created(true)
    }

    pub(super) fn is_deleted(&self) -> bool {
        self.header.state == RoomState::Deleted
    }
}
