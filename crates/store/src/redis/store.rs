//! The contract of a store, kept on Redis.

use std::{sync::Arc, time::Duration};

use super::{
    RedisStore,
    durable::Durable,
    encode::{Caller, Done},
    picture::{Asked, Looked},
    pump::{How, answered},
    room::RoomNode,
    transit::{Failed, Known, Transit},
    wire::{Answer, Status},
};
use crate::{Found, Freeze, Health, Operation, Over, Seen, Store, StoreError};
use async_trait::async_trait;
use ropeline_core::{
    Command, Departure, Holder, ImportRow, Imported, Joined, Joiner, Ordinal, Outcome, Policy,
    Reply, RoomId, RoomState, Saved, Standing, Timestamp, View, Visitor,
};

#[async_trait]
impl Store for RedisStore {
    fn rooms(&self) -> Vec<RoomId> {
        let rooms = self.inner.rooms.load();
        let live = rooms.values().filter(|room| room.is_live());
        live.map(|room| room.name.clone()).collect()
    }

    fn view(&self, room: &RoomId) -> Option<Seen> {
        let rooms = self.inner.rooms.load();
        let room = rooms.get(room)?;
        self.inner.look_at(room);
        room.with_shown(|picture| {
            let live = picture.view.header.state != RoomState::Deleted;
            live.then(|| Seen {
                view: Arc::clone(&picture.view),
                fresh_at: picture.fresh_at,
            })
        })?
    }

    async fn refresh(&self, room: &RoomId) {
        let room = self.inner.get(room);
        let room = room.filter(|room| room.away.check().is_ok());
        if let Some(room) = room {
            // While nodes merge there is nothing newer to show.
            if let Some(merging) = room.joins_held_for(self.inner.transit.clock.now()) {
                tokio::time::sleep(merging).await;
            }
            // What fails here is shown by how old the picture is.
            self.inner.transit.refresh(&room).await.ok();
        }
    }

    fn leased(&self, room: &RoomId, ordinal: Ordinal) -> Option<Timestamp> {
        self.inner.get(room)?.leased(ordinal)
    }

    fn health(&self) -> Health {
        self.inner.health()
    }

    fn health_of(&self, room: &RoomId) -> Health {
        self.inner.health_of(room)
    }

    fn unreplicated(&self) -> u64 {
        let durable = self.inner.transit.writer.durability();
        durable.map_or(0, Durable::unreplicated)
    }

    async fn create(
        &self,
        room: &RoomId,
        policy: Arc<Policy>,
        digest: Option<String>,
    ) -> Result<bool, StoreError> {
        match self.inner.live(room) {
            Ok(_) => return Ok(false),
            Err(StoreError::NoSuchRoom(_)) => {}
            Err(closed) => return Err(closed),
        }
        let room = self.inner.room(room);
        let transit = &self.inner.transit;
        let last = self.inner.last_before(&room).await?;
        let caller = transit.caller(&room);
        let attempt = |caller: Caller<'_>| caller.create(&policy, digest.as_deref(), last);
        let mut answer = transit.insist(&transit.writer, caller, attempt).await?;
        transit.list(&room.name).await?;
        transit.refresh(&room).await?;
        Ok(answer.rest.number().map_err(Failed::from)? == 1)
    }

    async fn join(&self, room: &RoomId, joiner: Joiner) -> Result<(Joined, Standing), StoreError> {
        let joined = self.inner.with_live(room, |room| {
            room.away.check()?;
            self.inner.queue_join(room, joiner)
        })?;
        answered(joined).await
    }

    async fn renew(&self, room: &RoomId, holder: Holder) -> Result<Standing, StoreError> {
        self.hear(room, How::Renew, holder).await
    }

    async fn ask(&self, room: &RoomId, holder: Holder) -> Result<Standing, StoreError> {
        let node = self.inner.live(room)?;
        if node.is_confirmed(holder.ordinal) {
            node.mark(holder.ordinal);
            return Ok(Standing::Live(ropeline_core::Live::InLine));
        }
        self.hear(room, How::Ask, holder).await
    }

    async fn keep(
        &self,
        room: &RoomId,
        holder: Holder,
        business: Duration,
    ) -> Result<Standing, StoreError> {
        match self
            .write(room, &Command::Keep { holder, business })
            .await?
        {
            Reply::Standing(standings) if standings.len() == 1 => Ok(standings[0].1),
            reply => Err(unexpected(&reply)),
        }
    }

    fn mark(&self, room: &RoomId, ordinal: Ordinal) {
        if let Some(room) = self.inner.rooms.load().get(room) {
            room.mark(ordinal);
        }
    }

    async fn leave(&self, room: &RoomId, holder: Holder) -> Result<Departure, StoreError> {
        self.departure(room, Command::Leave(holder)).await
    }

    async fn finish(&self, room: &RoomId, holder: Holder) -> Result<Departure, StoreError> {
        self.departure(room, Command::Finish(holder)).await
    }

    async fn find(&self, room: &RoomId, visitor: &Visitor) -> Result<Option<Found>, StoreError> {
        let room = self.inner.live(room)?;
        let transit = &self.inner.transit;
        let caller = transit.caller(&room);
        let attempt = |caller: Caller<'_>| caller.find(visitor);
        let mut answer = transit.insist(transit.gate(), caller, attempt).await?;
        let ordinal = answer.rest.ordinal().map_err(Failed::from)?;
        let standing = answer.rest.standing().map_err(Failed::from)?;
        Ok((ordinal.0 > 0).then_some(Found { ordinal, standing }))
    }

    async fn revoke(&self, room: &RoomId, visitor: Visitor) -> Result<Option<Ordinal>, StoreError> {
        match self.write(room, &Command::Revoke(visitor)).await? {
            Reply::Revoked(place) => Ok(place),
            reply => Err(unexpected(&reply)),
        }
    }

    async fn operate(&self, room: &RoomId, operation: Operation) -> Result<(), StoreError> {
        self.write(room, &operation.command()).await.map(drop)
    }

    async fn change_policy(
        &self,
        room: &RoomId,
        from: Arc<Policy>,
        to: Arc<Policy>,
    ) -> Result<bool, StoreError> {
        let change = Command::ChangePolicy { from, to };
        Ok(self.write(room, &change).await? == Reply::Done)
    }

    async fn stock(&self, room: &RoomId, left: Option<u64>) -> Result<(), StoreError> {
        self.write(room, &Command::Stock(left)).await.map(drop)
    }

    async fn merge(&self, room: &RoomId, memory: Arc<View>) -> Result<(), StoreError> {
        let room = self.inner.live(room)?;
        self.inner.transit.merge_memory(&room, &memory).await?;
        self.inner.transit.refresh(&room).await?;
        Ok(())
    }

    async fn import(
        &self,
        room: &RoomId,
        rows: Vec<ImportRow>,
        grace: Duration,
    ) -> Result<Vec<Imported>, StoreError> {
        match self.write(room, &Command::Import { rows, grace }).await? {
            Reply::Imported(imported) => Ok(imported),
            reply => Err(unexpected(&reply)),
        }
    }

    async fn freeze(&self, room: &RoomId, why: Freeze) -> Result<(), StoreError> {
        self.set_frozen(room, Some(&why)).await.map(drop)
    }

    async fn frozen(&self, room: &RoomId) -> Result<Option<Freeze>, StoreError> {
        self.why_frozen(room).await
    }

    async fn thaw(&self, room: &RoomId) -> Result<bool, StoreError> {
        let was_frozen = self.set_frozen(room, None).await?.is_some();
        // It may have come from elsewhere just now.
        let room = self.inner.room(room);
        self.inner.transit.refresh(&room).await?;
        Ok(was_frozen)
    }

    async fn export(&self, room: &RoomId) -> Result<Saved, StoreError> {
        self.read_whole(room).await
    }

    async fn adopt(
        &self,
        room: &RoomId,
        saved: Saved,
        from: &str,
        over: Over,
    ) -> Result<bool, StoreError> {
        self.write_whole(room, &saved, from, over).await
    }

    async fn discard(&self, room: &RoomId) -> Result<bool, StoreError> {
        self.discard_arrival(room).await
    }

    async fn settle(&self, room: &RoomId) -> Result<(), StoreError> {
        let room = self.inner.live(room)?;
        self.inner.transit.send_marks(&room).await?;
        Ok(self.inner.transit.settle(&room).await?)
    }

    async fn close(&self) {
        for room in self.inner.rooms.load().values() {
            // Nobody is made absent by a few marks that are lost.
            self.inner.transit.send_marks(room).await.ok();
        }
        self.inner.stopping.cancel();
        self.inner.tasks.close();
        self.inner.tasks.wait().await;
    }
}

impl RedisStore {
    /// Exactly one transition, for tests that compare it with core's. A merge takes what it needs.
    #[doc(hidden)]
    pub async fn apply(&self, room: &RoomId, command: Command) -> Result<Outcome, StoreError> {
        let room = self.untended(room);
        let transit = &self.inner.transit;
        if let Command::Merge(memory) = &command {
            let answer = transit.merge_memory(&room, memory).await?;
            return Ok(Done::read(&command, answer).map_err(Failed::from)?.outcome);
        }
        loop {
            // As a node that knows the room's generation and nothing else.
            let known = transit.look(&transit.feed, &room, Known::Nothing).await?;
            room.forget();
            if let Some((looked, _)) = known {
                room.recall(&Arc::new(looked.view()), transit.clock.now());
            }
            let call = transit.caller(&room).transition(&command);
            let answer = transit.run(&transit.writer, &call).await?;
            if answer.status != Status::Again {
                return Ok(Done::read(&command, answer).map_err(Failed::from)?.outcome);
            }
        }
    }

    /// As [`RedisStore::apply`], on a node that shows `known`, and what it shows then; `None` if the answer does not
    /// say enough to show it.
    #[doc(hidden)]
    pub async fn apply_knowing(
        &self,
        room: &RoomId,
        known: &Arc<View>,
        command: Command,
    ) -> Result<(Outcome, Option<Arc<View>>), StoreError> {
        let room = self.untended(room);
        let transit = &self.inner.transit;
        let now = transit.clock.now();
        room.recall(known, now);
        let call = transit.caller(&room).transition(&command);
        let mut answer = transit.run(&transit.writer, &call).await?;
        let news = Looked::of_news(&mut answer, known, now).map_err(Failed::from)?;
        if let Some(news) = &news {
            let asked = Asked { from: now, to: now };
            room.publish(news, asked, &[]);
        }
        if answer.status == Status::Again {
            return Ok((self.apply(&room.name, command).await?, None));
        }
        let done = Done::read(&command, answer).map_err(Failed::from)?;
        Ok((done.outcome, news.and_then(|_| room.view())))
    }

    /// The room as Redis has it, for tests that compare it with core's.
    #[doc(hidden)]
    pub async fn snapshot(&self, room: &RoomId) -> Result<Option<View>, StoreError> {
        let room = self.untended(room);
        let transit = &self.inner.transit;
        let looked = transit.look(&transit.feed, &room, Known::Nothing).await?;
        Ok(looked.map(|(looked, _)| looked.view()))
    }

    /// A room that this node does not tend to.
    pub(super) fn untended(&self, room: &RoomId) -> RoomNode {
        RoomNode::new(room.clone(), &self.inner.transit.node)
    }

    async fn write(&self, room: &RoomId, command: &Command) -> Result<Reply, StoreError> {
        let room = self.inner.live(room)?;
        let transit = &self.inner.transit;
        let done = transit.perform(&transit.writer, &room, command).await?;
        Ok(done.outcome.reply)
    }

    async fn departure(&self, room: &RoomId, command: Command) -> Result<Departure, StoreError> {
        match self.write(room, &command).await? {
            Reply::Departed(departure) => Ok(departure),
            reply => Err(unexpected(&reply)),
        }
    }

    async fn hear(&self, room: &RoomId, how: How, holder: Holder) -> Result<Standing, StoreError> {
        let standing = self.inner.with_live(room, |room| {
            room.away.check()?;
            self.inner.queue_ask(room, how, holder)
        })?;
        answered(standing).await
    }
}

impl Transit {
    /// Takes in what somebody knows, whether or not the store has forgotten it.
    async fn merge_memory(&self, room: &RoomNode, memory: &Arc<View>) -> Result<Answer, Failed> {
        loop {
            let Some((looked, _)) = self.look(&self.feed, room, Known::Nothing).await? else {
                let call = self.caller(room).restore(memory);
                let answer = self.run(&self.feed, &call).await?;
                if answer.version > 0 {
                    return Ok(answer);
                }
                continue;
            };
            let answer = self.merge(room, memory, &looked.view()).await?;
            if answer.status != Status::Missing {
                return Ok(answer);
            }
        }
    }
}

fn unexpected(reply: &Reply) -> StoreError {
    StoreError::Unavailable(format!("the room answered {reply:?}").into())
}
