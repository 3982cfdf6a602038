//! The end of a room, and a new beginning under the same name.

use std::{sync::Arc, time::Duration};

use super::{Changes, Header, Reply, Room, RoomState};
use crate::{Bits, Policy, Timestamp, keys::KeyMemory};

impl Room {
    /// Everybody out, and nothing remembered but the name and the numbers: tokens of before stay ended.
    pub(super) fn delete(&mut self, now: Timestamp) -> Reply {
        self.reset(now);
        self.header.state = RoomState::Deleted;
        self.header.paused = false;
        self.header.digest = None;
        (self.header.stock, self.header.stock_version) = (None, 0);
        (self.gone, self.done) = (Bits::default(), Bits::default());
        (self.imported, self.claimed) = (Bits::default(), Bits::default());
        self.seen = Default::default();
        self.keys = KeyMemory::default();
        self.changes = Changes::default();
        Reply::Done
    }

    /// A deleted room begins again with another epoch, so that no token of before is good for it.
    pub(super) fn create(
        &mut self,
        policy: Arc<Policy>,
        digest: Option<String>,
        now: Timestamp,
    ) -> Reply {
        if !self.is_deleted() {
            return Reply::Created(false);
        }
        let after_the_last = self.header.epoch + Duration::from_millis(1);
        self.header = Header {
            epoch: now.max(after_the_last),
            digest,
            version: self.header.version,
            clock: self.header.clock,
            ..Header::new(policy, self.host.clone(), now)
        };
        self.visible = true;
        Reply::Created(true)
    }

    pub(super) fn is_deleted(&self) -> bool {
        self.header.state == RoomState::Deleted
    }
}
