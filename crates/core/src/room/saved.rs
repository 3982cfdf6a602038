//! What a store that writes to disk needs: what changed, and a room made of what was written.

use thiserror::Error;

use super::{Bounds, Header, Live, Room};
use crate::{BLOCK_BITS, Bits, JoinKey, Ordinal, Visitor};

/// What has changed since [`Room::take_changes`] was last called. Beside it, the header may always have.
#[derive(Debug, Clone, Default)]
pub struct Changes {
    /// Places that came, moved or ended. May repeat.
    pub places: Vec<Ordinal>,
    /// Places whose pass was renewed and nothing else. May repeat.
    pub renewed: Vec<Ordinal>,
    /// Blocks of the `gone` bits. May repeat.
    pub gone_blocks: Vec<u64>,
    /// Blocks of the `done` bits. May repeat.
    pub done_blocks: Vec<u64>,
    /// Blocks of the bits of imported places. May repeat.
    pub imported_blocks: Vec<u64>,
    /// Blocks of the bits of those that were claimed. May repeat.
    pub claimed_blocks: Vec<u64>,
    /// Presence round and block of its bits. May repeat.
    pub seen_blocks: Vec<(u64, u64)>,
    /// Idempotency keys remembered in the current round.
    pub keys: Vec<JoinKey>,
}

impl Changes {
    /// Whether nothing but perhaps the header changed.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
            && self.renewed.is_empty()
            && self.gone_blocks.is_empty()
            && self.done_blocks.is_empty()
            && self.imported_blocks.is_empty()
            && self.claimed_blocks.is_empty()
            && self.seen_blocks.is_empty()
            && self.keys.is_empty()
    }

    pub(super) fn place(&mut self, ordinal: Ordinal) {
        push(&mut self.places, ordinal);
    }

    pub(super) fn renewed(&mut self, ordinal: Ordinal) {
        push(&mut self.renewed, ordinal);
    }

    pub(super) fn gone(&mut self, ordinal: Ordinal) {
        push(&mut self.gone_blocks, ordinal.0 / BLOCK_BITS);
    }

    pub(super) fn done(&mut self, ordinal: Ordinal) {
        push(&mut self.done_blocks, ordinal.0 / BLOCK_BITS);
    }

    pub(super) fn imported(&mut self, ordinal: Ordinal) {
        push(&mut self.imported_blocks, ordinal.0 / BLOCK_BITS);
    }

    pub(super) fn claimed(&mut self, ordinal: Ordinal) {
        push(&mut self.claimed_blocks, ordinal.0 / BLOCK_BITS);
    }

    pub(super) fn seen(&mut self, round: u64, ordinal: Ordinal) {
        push(&mut self.seen_blocks, (round, ordinal.0 / BLOCK_BITS));
    }
}

/// Most changes come in rising order, so this keeps most repetitions out.
fn push<T: PartialEq>(list: &mut Vec<T>, item: T) {
    if list.last() != Some(&item) {
        list.push(item);
    }
}

/// A live place as it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedPlace {
    /// Which place.
    pub ordinal: Ordinal,
    /// Who holds it.
    pub visitor: Visitor,
    /// In which state.
    pub live: Live,
}

/// A room as it was written.
#[derive(Debug, Clone)]
pub struct Saved {
    /// All but the places.
    pub header: Header,
    /// The live places, in any order.
    pub places: Vec<SavedPlace>,
    /// Those that are gone.
    pub gone: Bits,
    /// Those that are done.
    pub done: Bits,
    /// Those that an import gave.
    pub imported: Bits,
    /// Those of them that a join has answered.
    pub claimed: Bits,
    /// Presence, by round.
    pub seen: Vec<(u64, Bits)>,
    /// Idempotency keys, by round.
    pub keys: Vec<(u64, JoinKey)>,
}

/// Why what was written is not a room.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("place {ordinal} of the saved room is {problem}")]
pub struct LoadError {
    /// The place at fault.
    pub ordinal: Ordinal,
    /// What is wrong with it.
    pub problem: &'static str,
}

impl Room {
    /// What has changed since this was last asked. A store writes the present state of each and can
    /// therefore repeat a write, or join two, without harm.
    pub fn take_changes(&mut self) -> Changes {
        std::mem::take(&mut self.changes)
    }

    /// A live place's visitor and state, for writing.
    pub fn saved_place(&self, ordinal: Ordinal) -> Option<(&str, Live)> {
        Some((self.places.visitor_at(ordinal)?, self.state_of(ordinal)))
    }

    /// As [`Self::saved_place`] for many, fastest where neighbours follow each other.
    pub fn saved_places(
        &self,
        ordinals: impl Iterator<Item = Ordinal>,
    ) -> impl Iterator<Item = (Ordinal, Option<(&str, Live)>)> {
        let mut pass_of = self.passes.getter();
        ordinals.map(move |ordinal| {
            let visitor = self.places.visitor_at(ordinal);
            let place = visitor.map(|visitor| (visitor, self.state_by(ordinal, &mut pass_of)));
            (ordinal, place)
        })
    }

    /// The bits of those that are gone, for writing.
    pub fn gone(&self) -> &Bits {
        &self.gone
    }

    /// The bits of those that are done, for writing.
    pub fn done(&self) -> &Bits {
        &self.done
    }

    /// The bits of those that an import gave, for writing.
    pub fn imported(&self) -> &Bits {
        &self.imported
    }

    /// The bits of those that an import gave and a join has answered, for writing.
    pub fn claimed(&self) -> &Bits {
        &self.claimed
    }

    /// The bits of those seen in a round, if it is one of the last three.
    pub fn seen(&self, round: u64) -> Option<&Bits> {
        let age = usize::try_from(self.header.presence.number.checked_sub(round)?).ok()?;
        self.seen.get(age)
    }

    /// The whole room, as a store would have written it.
    pub fn saved(&self) -> Saved {
        let places = self.places.iter().map(|(ordinal, name)| SavedPlace {
            ordinal,
            visitor: Visitor::parse(name).expect("a name was a visitor's when it came"),
            live: self.state_of(ordinal),
        });
        let number = self.header.presence.number;
        let rounds = (0..=number).rev().zip(&self.seen);
        let keys = self.header.keys.number;
        Saved {
            header: self.header.clone(),
            places: places.collect(),
            gone: self.gone.clone(),
            done: self.done.clone(),
            imported: self.imported.clone(),
            claimed: self.claimed.clone(),
            seen: rounds.map(|(round, bits)| (round, bits.clone())).collect(),
            keys: self.keys.iter(keys).collect(),
        }
    }

    /// The room that was written, on the server it was written on.
    pub fn load(saved: Saved, bounds: Bounds) -> Result<Self, LoadError> {
        let host = saved.header.server.run_id();
        let policy = (*saved.header.policy).clone();
        let mut room = Self::new(policy, host, saved.header.epoch, bounds);
        room.header = saved.header;
        (room.gone, room.done) = (saved.gone, saved.done);
        (room.imported, room.claimed) = (saved.imported, saved.claimed);
        for (round, bits) in saved.seen {
            let age = room.header.presence.number.checked_sub(round);
            if let Some(slot) = age.and_then(|age| room.seen.get_mut(usize::try_from(age).ok()?)) {
                *slot = bits;
            }
        }
        for (round, key) in saved.keys {
            if round == room.header.keys.number {
                room.keys.remember(key);
            } else if round + 1 == room.header.keys.number {
                room.keys.remember_previous(key);
            }
        }
        for place in saved.places {
            room.load_place(&place)?;
        }
        Ok(room)
    }

    fn load_place(&mut self, place: &SavedPlace) -> Result<(), LoadError> {
        let SavedPlace {
            ordinal,
            visitor,
            live,
        } = place;
        let fail = |problem| {
            Err(LoadError {
                ordinal: *ordinal,
                problem,
            })
        };
        if *ordinal <= self.header.floor {
            // Put out by a reset whose rows were not purged yet.
            return Ok(());
        }
        let above_head = *ordinal > self.header.head;
        if *ordinal == Ordinal(0) || *ordinal > self.header.issued {
            return fail("one that was never given");
        }
        if self.ending(*ordinal).is_some() {
            return fail("both live and ended");
        }
        if above_head != (*live == Live::InLine) {
            return fail("in a state that its side of the head excludes");
        }
        let name = self.places.name(visitor);
        if self.places.ordinal_of(name).is_some() || self.places.contains(*ordinal) {
            return fail("one of two places of a visitor");
        }
        self.places.insert(*ordinal, name);
        match live {
            Live::InLine => self.in_line += 1,
            Live::AtDoor { .. } => {
                self.door.insert(*ordinal);
            }
            Live::Aside(until) => self.aside.set(*ordinal, *until),
            Live::Inside(pass) => {
                self.passes.set(*ordinal, *pass);
            }
        }
        Ok(())
    }
}
