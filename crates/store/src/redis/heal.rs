//! What is done when the store has forgotten: the nodes tell it what they know.

use std::sync::Arc;

use ropeline_core::{Bits, Command, View};

use super::{
    encode::Call,
    picture::{Asked, Looked},
    room::RoomNode,
    transit::{Failed, Known, Transit, frozen},
    wire::{Answer, Status},
};
use crate::StoreError;

/// Ordinals, or places, that one call takes at most.
const PART_MAX: usize = 1_000;
/// A room that still is not whole after this many tries is left to the next caller.
const TRIES_MAX: u32 = 100;

impl Transit {
    /// Brings the room and this node to the same knowledge: merges what the node knows into a room that may have missed
    /// something, restores one that is gone, and shows the room as it is then.
    pub(super) async fn heal(&self, room: &RoomNode) -> Result<(), Failed> {
        let _one_at_a_time = room.healing.lock().await;
        let mut merged = false;
        for _ in 0..TRIES_MAX {
            let term = self.term(room);
            let known = room.memory(Some(term));
            let Some((looked, asked)) = self.look(&self.feed, room, Known::Nothing).await? else {
                let Some(known) = room.last_memory(term) else {
                    return Err(no_such_room(room));
                };
                self.restore(room, &known).await?;
                merged = true;
                continue;
            };
            // A join may have been acknowledged after the memory was taken that was merged.
            let acknowledged = known.as_ref().map(|known| known.header.issued);
            let has_all = acknowledged.is_none_or(|issued| issued <= looked.header.issued);
            if has_all && !room.must_merge(&looked, term) {
                self.show(room, looked, asked).await;
                return if merged {
                    self.retell(room).await
                } else {
                    Ok(())
                };
            }
            self.merge_into(room, known, looked, asked).await?;
            merged = true;
        }
        Err(no_such_room(room))
    }

    /// Sends again what this node has acknowledged lately: a server that took over may not have it, and its visitors may
    /// never ask again.
    async fn retell(&self, room: &RoomNode) -> Result<(), Failed> {
        for part in room.recent().chunks(PART_MAX) {
            let call = self
                .caller(room)
                .transition(&Command::Retell(part.to_vec()));
            let answer = self.run(&self.feed, &call).await?;
            match answer.status {
                Status::Ok => {}
                Status::Frozen => return Err(frozen(&room.name, answer)),
                // Something changed again: the next call heals again, and all of it is sent once more.
                _ => return Ok(()),
            }
        }
        Ok(())
    }

    async fn merge_into(
        &self,
        room: &RoomNode,
        known: Option<Arc<View>>,
        looked: Looked,
        asked: Asked,
    ) -> Result<(), Failed> {
        let was_elsewhere = looked.is_elsewhere();
        if !was_elsewhere && known.is_none() {
            self.show(room, looked, asked).await;
            return Ok(());
        }
        let stored = looked.view();
        let known = known.unwrap_or_else(|| Arc::new(stored.clone()));
        let answer = self.merge(room, &known, &stored).await?;
        if answer.status == Status::Frozen {
            // It stands still, so a node that has just begun can show it before it is merged.
            if room.view().is_none() {
                self.show(room, looked, asked).await;
            }
            return Err(frozen(&room.name, answer));
        }
        if answer.status == Status::Ok {
            let (before, after) = (stored.header.issued.0, known.header.issued.0);
            tracing::warn!(
                room.id = %room.name,
                lost_places = after.saturating_sub(before),
                restarted = was_elsewhere,
                generation = stored.header.generation,
                "Redis was restarted or replaced, or another node has merged; this node has merged what it knows"
            );
            self.adopt(room).await?;
        }
        Ok(())
    }

    /// Takes over the generation of the room, now that this node has merged.
    async fn adopt(&self, room: &RoomNode) -> Result<(), Failed> {
        if let Some((looked, asked)) = self.look(&self.feed, room, Known::Nothing).await?
            && !looked.is_elsewhere()
        {
            room.give_way_to(&looked);
            self.show(room, looked, asked).await;
        }
        Ok(())
    }

    /// Tells a room what somebody knows, given what the room itself knows. The last call lifts the fence.
    pub(super) async fn merge(
        &self,
        room: &RoomNode,
        known: &Arc<View>,
        stored: &View,
    ) -> Result<Answer, Failed> {
        let [gone, done] = if known.header.voids(stored.header.epoch) {
            let none = Bits::default();
            [none.new_in(&known.gone), none.new_in(&known.done)]
        } else {
            [
                stored.gone.new_in(&known.gone),
                stored.done.new_in(&known.done),
            ]
        };
        let ended = gone.iter().map(|ordinal| (*ordinal, true));
        let ended: Vec<_> = ended
            .chain(done.iter().map(|ordinal| (*ordinal, false)))
            .collect();
        let (parts, last) = ended.split_at(ended.len().saturating_sub(1) / PART_MAX * PART_MAX);
        for part in parts.chunks(PART_MAX) {
            let answer = self.tell(room, "part", known, part).await?;
            if answer.status != Status::Ok {
                return Ok(answer);
            }
        }
        self.tell(room, "last", known, last).await
    }

    async fn tell(
        &self,
        room: &RoomNode,
        part: &str,
        known: &Arc<View>,
        ended: &[(u64, bool)],
    ) -> Result<Answer, Failed> {
        let of = |wanted| {
            let these = ended.iter().filter(move |(_, gone)| *gone == wanted);
            these.map(|(ordinal, _)| *ordinal).collect::<Vec<_>>()
        };
        let (gone, done) = (of(true), of(false));
        loop {
            let call: Call = self.caller(room).merge(part, known, &gone, &done);
            let answer = self.run(&self.feed, &call).await?;
            if answer.status != Status::Again {
                return Ok(answer);
            }
        }
    }

    async fn restore(&self, room: &RoomNode, known: &View) -> Result<(), Failed> {
        let call = self.caller(room).restore(known);
        self.run(&self.feed, &call).await?;
        tracing::error!(
            room.id = %room.name,
            issued = known.header.issued.0,
            "Redis had forgotten the room; this node has restored it, and those in line are back when they ask"
        );
        self.list(&room.name).await?;
        self.adopt(room).await
    }
}

fn no_such_room(room: &RoomNode) -> Failed {
    Failed::Refused(StoreError::NoSuchRoom(room.name.clone()))
}
