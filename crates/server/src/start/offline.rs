//! A deployment without its server: for commands that work on the store themselves.

use std::sync::Arc;

use ropeline_core::{Holder, RoomId, Timestamp, View};
use ropeline_store::{Clock, Store, StoreError};

use super::{
    error::StartError,
    keys::{Slot, signing_keys},
    rooms::apply_section,
    store::{self, Opened},
};
use crate::{
    config::Settings,
    token::{KeyRing, claims_for},
};

/// The store that the settings name, and the keys that sign its tokens.
#[derive(Debug)]
pub struct Offline {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    keys: Slot<KeyRing>,
    token_ttl_s: u64,
}

impl Offline {
    /// Opens the store and the keys as a server would; an embedded store must have no server then.
    pub async fn open(settings: &Settings, clock: Arc<dyn Clock>) -> Result<Self, StartError> {
        let Opened { store, shared, .. } = store::open(settings, &clock).await?;
        let keys = signing_keys(settings, shared, &clock).await?;
        Ok(Self {
            store,
            clock,
            keys,
            token_ttl_s: settings.token_ttl.as_secs(),
        })
    }

    /// The store.
    pub fn store(&self) -> &dyn Store {
        &*self.store
    }

    /// A room as the server would have it after its start: with its section applied, if it has one. `None` if
    /// there is no such room.
    pub async fn room(
        &self,
        settings: &Settings,
        room: &RoomId,
    ) -> Result<Option<Arc<View>>, StoreError> {
        if let Some(section) = settings.rooms.get(room) {
            apply_section(self.store(), room, section).await?;
        }
        Ok(self.store.view(room).map(|seen| seen.view))
    }

    /// A token for a place that was given at `issued_at`.
    pub fn token(
        &self,
        room: &RoomId,
        epoch: Timestamp,
        holder: Holder,
        issued_at: Timestamp,
    ) -> String {
        let now = self.clock.now();
        let seconds = issued_at.min(now).0 / 1_000..now.0 / 1_000 + self.token_ttl_s;
        let claims = claims_for(room.clone(), epoch, holder, seconds);
        self.keys.load().sign(&claims)
    }

    /// Writes what may still be unwritten.
    pub async fn close(self) {
        self.store.close().await;
    }
}
