//! Reading a room.

use std::collections::BTreeMap;

use redis::{Cmd, FromRedisValue};
use ropeline_core::{Bits, Header, JoinKey, Live, Ordinal, Pass, Saved, SavedPlace, Timestamp};

use super::{
    super::{
        fields::Fields,
        keys::RoomKeys,
        member::Member,
        room::RoomNode,
        transit::{Failed, Transit},
        wire::{Status, Unreadable},
    },
    PAGE, PAGE_BYTES,
};
use crate::StoreError;

/// A frozen room, a page at a time.
pub(super) struct Pages<'a> {
    transit: &'a Transit,
    keys: &'a RoomKeys,
    room: &'a RoomNode,
}

impl<'a> Pages<'a> {
    pub(super) fn of(transit: &'a Transit, room: &'a RoomNode) -> Self {
        Self {
            transit,
            keys: &room.keys,
            room,
        }
    }

    async fn query<T: FromRedisValue>(&self, command: &Cmd) -> Result<T, StoreError> {
        let writer = &self.transit.writer;
        Ok(writer.query(self.keys.slot(), command).await?)
    }

    pub(super) async fn send(&self, command: &Cmd) -> Result<(), StoreError> {
        self.query::<redis::Value>(command).await.map(drop)
    }

    pub(super) async fn fields(&self) -> Result<Fields, StoreError> {
        let call = self.transit.caller(self.room).read();
        let mut answer = self.transit.run(&self.transit.writer, &call).await?;
        if answer.status == Status::Missing {
            return Err(StoreError::NoSuchRoom(self.room.name.clone()));
        }
        Ok(answer.rest.fields().map_err(Failed::from)?)
    }

    pub(super) async fn saved(&self) -> Result<Saved, StoreError> {
        let fields = self.fields().await?;
        if fields.text("frozen").is_none() {
            return Err(StoreError::Unavailable("the room is not frozen".into()));
        }
        let last = fields.time("clock_last").map_err(Failed::from)?;
        let header = fields
            .header(last, self.transit.clock.now())
            .map_err(Failed::from)?;
        let imported = self.bits("imported", &header).await?;
        Ok(Saved {
            places: self.places(&header).await?,
            gone: self.bits("gone", &header).await?,
            done: self.bits("done", &header).await?,
            claimed: self.bits("claimed", &header).await?,
            seen: self.seen(&header, &fields, &imported).await?,
            keys: self.join_keys(&header).await?,
            imported,
            header,
        })
    }

    async fn places(&self, header: &Header) -> Result<Vec<SavedPlace>, StoreError> {
        let passes = self.scores("active").await?;
        let aside = self.scores("aside").await?;
        let since = self.hash("since").await?;
        let since = |ordinal: u64| {
            since
                .get(&ordinal.to_string())
                .and_then(|at| at.parse().ok())
        };
        let live = |ordinal: u64| {
            if ordinal > header.head.0 {
                return Live::InLine;
            }
            if let Some(expires_at) = passes.get(&ordinal) {
                return Live::Inside(Pass {
                    expires_at: Timestamp(*expires_at),
                    since: Timestamp(since(ordinal).unwrap_or(*expires_at)),
                });
            }
            let until = aside.get(&ordinal);
            until.map_or(Live::AtDoor { before: 0 }, |until| {
                Live::Aside(Timestamp(*until))
            })
        };
        let mut places = Vec::new();
        let mut last = 0;
        loop {
            let mut page = redis::cmd("ZRANGE");
            page.arg(self.keys.part("places"))
                .arg(format!("({last}"))
                .arg("+inf")
                .arg("BYSCORE")
                .arg("LIMIT")
                .arg(0)
                .arg(PAGE)
                .arg("WITHSCORES");
            let page: Vec<(Vec<u8>, u64)> = self.query(&page).await?;
            for (visitor, ordinal) in &page {
                places.push(SavedPlace {
                    ordinal: Ordinal(*ordinal),
                    visitor: Member::read(visitor).map_err(Failed::from)?,
                    live: live(*ordinal),
                });
            }
            match page.last() {
                Some((_, ordinal)) => last = *ordinal,
                None => return Ok(places),
            }
        }
    }

    /// A sorted set of ordinals.
    async fn scores(&self, part: &str) -> Result<BTreeMap<u64, u64>, StoreError> {
        let mut all = BTreeMap::new();
        let mut from = 0;
        loop {
            let mut page = redis::cmd("ZRANGE");
            page.arg(self.keys.part(part))
                .arg(from)
                .arg(from + PAGE - 1)
                .arg("WITHSCORES");
            let page: Vec<(u64, u64)> = self.query(&page).await?;
            if page.is_empty() {
                return Ok(all);
            }
            from += page.len();
            all.extend(page);
        }
    }

    async fn hash(&self, part: &str) -> Result<BTreeMap<String, String>, StoreError> {
        let mut all = BTreeMap::new();
        let mut cursor = 0_u64;
        loop {
            let mut page = redis::cmd("HSCAN");
            page.arg(self.keys.part(part))
                .arg(cursor)
                .arg("COUNT")
                .arg(PAGE);
            let (next, entries): (u64, Vec<(String, String)>) = self.query(&page).await?;
            all.extend(entries);
            if next == 0 {
                return Ok(all);
            }
            cursor = next;
        }
    }

    async fn bits(&self, part: &str, header: &Header) -> Result<Bits, StoreError> {
        let mut bitmap: Vec<u8> = Vec::new();
        loop {
            let mut page = redis::cmd("GETRANGE");
            page.arg(self.keys.part(part))
                .arg(bitmap.len())
                .arg(bitmap.len() + PAGE_BYTES - 1);
            let page: Vec<u8> = self.query(&page).await?;
            bitmap.extend_from_slice(&page);
            if page.len() < PAGE_BYTES {
                return Ok(Bits::from_bitmap(header.base.0, &bitmap));
            }
        }
    }

    /// Who was heard of in each round: those whom its bitmap has, and those whom a join gave a place in it.
    async fn seen(
        &self,
        header: &Header,
        fields: &Fields,
        imported: &Bits,
    ) -> Result<Vec<(u64, Bits)>, StoreError> {
        let mut seen = Vec::new();
        let rounds = (0..=header.presence.number).rev();
        for (round, given) in rounds.zip(fields.given().map_err(Failed::from)?) {
            let mut heard = self.bits(&format!("seen{}", round % 3), header).await?;
            for ordinal in given.filter(|ordinal| !imported.contains(*ordinal)) {
                heard.insert(ordinal);
            }
            seen.push((round, heard));
        }
        Ok(seen)
    }

    async fn join_keys(&self, header: &Header) -> Result<Vec<(u64, JoinKey)>, StoreError> {
        let mut keys = Vec::new();
        for round in (0..=header.keys.number).rev().take(2) {
            let entries = self.hash(&format!("keys{}", round % 2)).await?;
            for (key, body) in entries {
                let key = u128::from_str_radix(&key, 16);
                let body = u64::from_str_radix(&body, 16);
                let (Ok(key), Ok(body)) = (key, body) else {
                    return Err(Failed::from(Unreadable("an idempotency key")).into());
                };
                keys.push((round, JoinKey { key, body }));
            }
        }
        Ok(keys)
    }
}
