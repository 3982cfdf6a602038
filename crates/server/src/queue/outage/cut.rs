//! A store that a test can cut off.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use ropeline_core::{
    Departure, Holder, ImportRow, Imported, Joined, Joiner, Located, Ordinal, Policy, RoomId,
    Saved, Standing, Timestamp, View, Visitor,
};
use ropeline_store::{
    Clock, EmbeddedStore, Found, Freeze, Health, Operation, Over, Seen, Store, StoreError,
};

/// Rooms of a real store, which answers nothing while it is cut off; what was last seen stays.
#[derive(Debug)]
pub(super) struct Cut {
    store: EmbeddedStore,
    clock: Arc<dyn Clock>,
    last_seen: Mutex<Option<HashMap<RoomId, Seen>>>,
}

impl Cut {
    pub(super) fn new(store: EmbeddedStore, clock: Arc<dyn Clock>) -> Self {
        Self {
            store,
            clock,
            last_seen: Mutex::default(),
        }
    }

    pub(super) fn cut(&self) {
        let rooms = self.store.rooms().into_iter();
        let seen = rooms.filter_map(|room| Some((room.clone(), self.store.view(&room)?)));
        *self.last_seen() = Some(seen.collect());
    }

    pub(super) fn mend(&self) {
        *self.last_seen() = None;
    }

    fn last_seen(&self) -> std::sync::MutexGuard<'_, Option<HashMap<RoomId, Seen>>> {
        let last_seen = self.last_seen.lock();
        last_seen.unwrap_or_else(PoisonError::into_inner)
    }

    fn reach(&self) -> Result<&EmbeddedStore, StoreError> {
        match self.health() {
            Health::Up => Ok(&self.store),
            Health::Down(reason) => Err(StoreError::Unavailable(reason)),
        }
    }
}

#[async_trait]
impl Store for Cut {
    fn rooms(&self) -> Vec<RoomId> {
        self.store.rooms()
    }

    fn view(&self, room: &RoomId) -> Option<Seen> {
        match &*self.last_seen() {
            Some(seen) => seen.get(room).cloned(),
            None => self.store.view(room),
        }
    }

    fn leased(&self, room: &RoomId, ordinal: Ordinal) -> Option<Timestamp> {
        let seen = self.view(room)?;
        (seen.view.locate(ordinal) == Located::PassedBy).then_some(seen.fresh_at)
    }

    fn health(&self) -> Health {
        match &*self.last_seen() {
            Some(_) => Health::Down(format!("cut off at {:?}", self.clock.now()).into()),
            None => Health::Up,
        }
    }

    async fn create(
        &self,
        room: &RoomId,
        policy: Arc<Policy>,
        digest: Option<String>,
    ) -> Result<bool, StoreError> {
        self.reach()?.create(room, policy, digest).await
    }

    async fn join(&self, room: &RoomId, joiner: Joiner) -> Result<(Joined, Standing), StoreError> {
        self.reach()?.join(room, joiner).await
    }

    async fn renew(&self, room: &RoomId, holder: Holder) -> Result<Standing, StoreError> {
        self.reach()?.renew(room, holder).await
    }

    async fn ask(&self, room: &RoomId, holder: Holder) -> Result<Standing, StoreError> {
        self.reach()?.ask(room, holder).await
    }

    async fn keep(
        &self,
        room: &RoomId,
        holder: Holder,
        business: Duration,
    ) -> Result<Standing, StoreError> {
        self.reach()?.keep(room, holder, business).await
    }

    fn mark(&self, room: &RoomId, ordinal: Ordinal) {
        if let Ok(store) = self.reach() {
            store.mark(room, ordinal);
        }
    }

    async fn leave(&self, room: &RoomId, holder: Holder) -> Result<Departure, StoreError> {
        self.reach()?.leave(room, holder).await
    }

    async fn finish(&self, room: &RoomId, holder: Holder) -> Result<Departure, StoreError> {
        self.reach()?.finish(room, holder).await
    }

    async fn find(&self, room: &RoomId, visitor: &Visitor) -> Result<Option<Found>, StoreError> {
        self.reach()?.find(room, visitor).await
    }

    async fn revoke(&self, room: &RoomId, visitor: Visitor) -> Result<Option<Ordinal>, StoreError> {
        self.reach()?.revoke(room, visitor).await
    }

    async fn operate(&self, room: &RoomId, operation: Operation) -> Result<(), StoreError> {
        self.reach()?.operate(room, operation).await
    }

    async fn change_policy(
        &self,
        room: &RoomId,
        from: Arc<Policy>,
        to: Arc<Policy>,
    ) -> Result<bool, StoreError> {
        self.reach()?.change_policy(room, from, to).await
    }

    async fn stock(&self, room: &RoomId, left: Option<u64>) -> Result<(), StoreError> {
        self.reach()?.stock(room, left).await
    }

    async fn merge(&self, room: &RoomId, memory: Arc<View>) -> Result<(), StoreError> {
        self.reach()?.merge(room, memory).await
    }

    async fn import(
        &self,
        room: &RoomId,
        rows: Vec<ImportRow>,
        grace: Duration,
    ) -> Result<Vec<Imported>, StoreError> {
        self.reach()?.import(room, rows, grace).await
    }

    async fn freeze(&self, room: &RoomId, why: Freeze) -> Result<(), StoreError> {
        self.reach()?.freeze(room, why).await
    }

    async fn frozen(&self, room: &RoomId) -> Result<Option<Freeze>, StoreError> {
        self.reach()?.frozen(room).await
    }

    async fn thaw(&self, room: &RoomId) -> Result<bool, StoreError> {
        self.reach()?.thaw(room).await
    }

    async fn export(&self, room: &RoomId) -> Result<Saved, StoreError> {
        self.reach()?.export(room).await
    }

    async fn adopt(
        &self,
        room: &RoomId,
        saved: Saved,
        from: &str,
        over: Over,
    ) -> Result<bool, StoreError> {
        self.reach()?.adopt(room, saved, from, over).await
    }

    async fn discard(&self, room: &RoomId) -> Result<bool, StoreError> {
        self.reach()?.discard(room).await
    }

    async fn settle(&self, room: &RoomId) -> Result<(), StoreError> {
        self.reach()?.settle(room).await
    }

    async fn close(&self) {
        self.store.close().await;
    }
}
