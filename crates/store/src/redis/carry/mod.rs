//! Rooms that go to another store, or come from one.
//!
//! A frozen room stands still, so it can be read and written a page at a time.

mod read;
mod write;

use ropeline_core::{Live, RoomId, Saved};

use self::{read::Pages, write::commands};
use super::{
    RedisStore,
    encode::Caller,
    fields::fields_of,
    room::RoomNode,
    transit::{Failed, Transit},
    wire::{Answer, Status, Unreadable},
};
use crate::{Freeze, Over, StoreError};

/// Entries of a set or hash that one call reads, and that one call writes: a few milliseconds, for other rooms may be
/// served meanwhile.
const PAGE: usize = 2_000;
/// Bytes of a bitmap likewise.
const PAGE_BYTES: usize = 256 * 1024;

impl RedisStore {
    /// Freezes a room for a reason, or with none lets it go on; says why it was frozen before.
    pub(super) async fn set_frozen(
        &self,
        room: &RoomId,
        why: Option<&Freeze>,
    ) -> Result<Option<Freeze>, StoreError> {
        let node = self.untended(room);
        let transit = &self.inner.transit;
        let text = why.map_or_else(String::new, Freeze::text);
        let caller = transit.caller(&node);
        let attempt = |caller: Caller<'_>| caller.freeze(&text);
        let mut answer = transit.insist(&transit.writer, caller, attempt).await?;
        let before = answer.rest.text().map_err(Failed::from)?;
        Ok((!before.is_empty()).then(|| Freeze::of_text(&before)))
    }

    pub(super) async fn why_frozen(&self, room: &RoomId) -> Result<Option<Freeze>, StoreError> {
        let node = self.untended(room);
        let fields = Pages::of(&self.inner.transit, &node).fields().await?;
        Ok(fields.text("frozen").map(Freeze::of_text))
    }

    pub(super) async fn read_whole(&self, room: &RoomId) -> Result<Saved, StoreError> {
        let node = self.untended(room);
        Pages::of(&self.inner.transit, &node).saved().await
    }

    pub(super) async fn write_whole(
        &self,
        room: &RoomId,
        saved: &Saved,
        from: &str,
        over: Over,
    ) -> Result<bool, StoreError> {
        let node = self.untended(room);
        let transit = &self.inner.transit;
        let why = Freeze::Arriving(from.to_owned()).text();
        let fields = fields_of(&saved.header, inside_since(saved));
        let mut begun = transit.begin_arrival(&node, &why, over, &fields).await?;
        if begun.rest.number().map_err(Failed::from)? == 0 {
            return Ok(false);
        }
        let pages = Pages::of(transit, &node);
        for command in commands(&node.keys, saved) {
            pages.send(&command).await?;
        }
        transit.list(room).await?;
        Ok(true)
    }

    pub(super) async fn discard_arrival(&self, room: &RoomId) -> Result<bool, StoreError> {
        if !matches!(self.why_frozen(room).await, Ok(Some(Freeze::Arriving(_)))) {
            return Ok(false);
        }
        let node = self.untended(room);
        let pages = Pages::of(&self.inner.transit, &node);
        self.inner.transit.unlist(room).await?;
        pages
            .send(redis::cmd("UNLINK").arg(node.keys.parts()))
            .await?;
        Ok(true)
    }
}

impl Transit {
    async fn begin_arrival(
        &self,
        room: &RoomNode,
        why: &str,
        over: Over,
        fields: &[(&'static str, String)],
    ) -> Result<Answer, StoreError> {
        let call = self.caller(room).adopt(why, over, fields);
        let answer = self.run(&self.writer, &call).await?;
        match answer.status {
            Status::Ok => Ok(answer),
            _ => Err(Failed::from(Unreadable("an arrival")).into()),
        }
    }
}

/// The sum of all times of admission of those inside, counted from the epoch, as the functions keep it.
fn inside_since(saved: &Saved) -> u64 {
    let since = saved.places.iter().filter_map(|place| match place.live {
        Live::Inside(pass) => Some(pass.since.0.saturating_sub(saved.header.epoch.0)),
        _ => None,
    });
    since.sum()
}
