//! Who holds which place: visitor to ordinal and back.
//!
//! This is most of a room's memory, so it is packed: about 60 bytes for a visitor of 38 characters. Names
//! lie one after the other in the buffer of their chunk of ordinals, and the index by name holds nothing
//! but ordinals. Nothing here is ever moved as a whole when the line grows, so no join waits for that.

use std::{
    collections::BTreeMap,
    hash::{BuildHasher, RandomState},
    hint::black_box,
    ops::Bound,
};

use hashbrown::HashTable;

use crate::{Ordinal, Visitor};

const CHUNK: u64 = 4096;
/// Parts of the index; each grows by itself, so that growing moves a small part of the line at a time.
const SHARDS: usize = 1024;
/// Low bits of a slot hold the length of the name (at most 130), the rest where it starts.
const LENGTH_BITS: u32 = 8;
/// Low bits of an entry of the index hold the ordinal, enough for half a year of a million joins a second.
const ORDINAL_BITS: u32 = 44;

/// Every live place of a room.
#[derive(Clone)]
pub(crate) struct Places {
    chunks: BTreeMap<u64, Chunk>,
    /// Ordinals, found by the hash of the name that the chunks hold for them.
    index: Vec<HashTable<Entry>>,
    hasher: RandomState,
    len: usize,
}

/// A visitor's name with its hash, which takes longer than to find it and is made once.
#[derive(Clone, Copy)]
pub(crate) struct Name<'a> {
    text: &'a str,
    hash: u64,
}

/// An ordinal and a part of the hash of its name, so that the index grows without looking at names again.
#[derive(Clone, Copy)]
struct Entry(u64);

#[derive(Clone)]
struct Chunk {
    /// Start and length of each name in `names`; zero where the place is not live.
    slots: Box<[u32]>,
    names: String,
    live: u32,
    /// Bytes of `names` that belong to no live place.
    dead_bytes: usize,
}

impl std::fmt::Debug for Places {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl Default for Places {
    fn default() -> Self {
        Self {
            chunks: BTreeMap::new(),
            index: vec![HashTable::new(); SHARDS],
            hasher: RandomState::new(),
            len: 0,
        }
    }
}

impl Places {
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The name of a visitor, for finding or placing them.
    pub(crate) fn name<'a>(&self, visitor: &'a Visitor) -> Name<'a> {
        let text = visitor.as_str();
        let hash = self.hasher.hash_one(text.as_bytes());
        Name { text, hash }
    }

    /// The visitor's place.
    pub(crate) fn ordinal_of(&self, Name { text, hash }: Name<'_>) -> Option<Ordinal> {
        let same = |entry: &Entry| {
            entry.part_of_hash() == part(hash) && self.visitor_at(entry.ordinal()) == Some(text)
        };
        let entry = self.index[shard(hash)].find(spread(part(hash)), same);
        entry.map(|entry| entry.ordinal())
    }

    /// Looks where these would be found, for those who then look for one after the other: the index of a long line is in
    /// no cache, and to wait for all of its parts at once takes little longer than for one.
    pub(crate) fn warm_up(&self, names: &[Name<'_>]) {
        for Name { hash, .. } in names {
            let same = |entry: &Entry| entry.part_of_hash() == part(*hash);
            black_box(self.index[shard(*hash)].find(spread(part(*hash)), same));
        }
    }

    /// Who holds the place.
    pub(crate) fn visitor_at(&self, ordinal: Ordinal) -> Option<&str> {
        let (chunk, slot) = split(ordinal);
        self.chunks.get(&chunk)?.name(slot)
    }

    /// Whether the place is live.
    pub(crate) fn contains(&self, ordinal: Ordinal) -> bool {
        self.visitor_at(ordinal).is_some()
    }

    /// Gives a place to a visitor. The caller has made sure that neither has another.
    pub(crate) fn insert(&mut self, ordinal: Ordinal, name: Name<'_>) {
        debug_assert!(self.visitor_at(ordinal).is_none(), "{ordinal} is taken");
        debug_assert!(self.ordinal_of(name).is_none(), "{} has a place", name.text);
        let (chunk, slot) = split(ordinal);
        self.chunks
            .entry(chunk)
            .or_insert_with(Chunk::empty)
            .put(slot, name.text);
        let rehash = |entry: &Entry| spread(entry.part_of_hash());
        let entry = Entry::of(name.hash, ordinal);
        self.index[shard(name.hash)].insert_unique(rehash(&entry), entry, rehash);
        self.len += 1;
    }

    /// Ends a place; says whether it was live.
    pub(crate) fn remove(&mut self, ordinal: Ordinal) -> bool {
        let Some(visitor) = self.visitor_at(ordinal) else {
            return false;
        };
        let hash = self.hasher.hash_one(visitor.as_bytes());
        let same = |entry: &Entry| entry.ordinal() == ordinal;
        if let Ok(entry) = self.index[shard(hash)].find_entry(spread(part(hash)), same) {
            entry.remove();
        }
        let (number, slot) = split(ordinal);
        let chunk = self
            .chunks
            .get_mut(&number)
            .expect("the place was found in this chunk");
        chunk.clear(slot);
        if chunk.live == 0 {
            self.chunks.remove(&number);
        }
        self.len -= 1;
        true
    }

    /// The lowest live place above an ordinal.
    pub(crate) fn next_above(&self, ordinal: Ordinal) -> Option<Ordinal> {
        let (first, slot) = split(ordinal.next());
        let in_first = self
            .chunks
            .get(&first)
            .and_then(|chunk| chunk.live_from(slot));
        if let Some(slot) = in_first {
            return Some(join(first, slot));
        }
        let later = (Bound::Excluded(first), Bound::Unbounded);
        let (number, chunk) = self.chunks.range(later).next()?;
        let slot = chunk
            .live_from(0)
            .expect("a chunk without live places is dropped");
        Some(join(*number, slot))
    }

    /// How many neighbours from a live place on are live, up to `most`, or to the end of their chunk.
    pub(crate) fn live_neighbours(&self, ordinal: Ordinal, most: u64) -> u64 {
        let (chunk, slot) = split(ordinal);
        let slots = self
            .chunks
            .get(&chunk)
            .map_or(&[][..], |chunk| &chunk.slots[slot..]);
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let live = slots.iter().take(most).take_while(|packed| **packed != 0);
        live.count() as u64
    }

    /// All places in rising order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Ordinal, &str)> + '_ {
        self.chunks.iter().flat_map(|(number, chunk)| {
            let slots = (0..chunk.slots.len()).filter_map(|slot| Some((slot, chunk.name(slot)?)));
            slots.map(move |(slot, name)| (join(*number, slot), name))
        })
    }
}

impl Entry {
    fn of(hash: u64, ordinal: Ordinal) -> Self {
        assert!(ordinal.0 >> ORDINAL_BITS == 0, "{ordinal} is never given");
        Self(part(hash) << ORDINAL_BITS | ordinal.0)
    }

    fn ordinal(self) -> Ordinal {
        Ordinal(self.0 & ((1 << ORDINAL_BITS) - 1))
    }

    fn part_of_hash(self) -> u64 {
        self.0 >> ORDINAL_BITS
    }
}

impl Chunk {
    fn empty() -> Self {
        let slots = usize::try_from(CHUNK).expect("a chunk fits in memory");
        Self {
            slots: vec![0; slots].into_boxed_slice(),
            names: String::new(),
            live: 0,
            dead_bytes: 0,
        }
    }

    fn name(&self, slot: usize) -> Option<&str> {
        let packed = self.slots[slot];
        let length = (packed & ((1 << LENGTH_BITS) - 1)) as usize;
        let start = (packed >> LENGTH_BITS) as usize;
        (length > 0).then(|| &self.names[start..start + length])
    }

    fn put(&mut self, slot: usize, name: &str) {
        let start = u32::try_from(self.names.len()).expect("4096 names fit in 24 bits");
        let length = u32::try_from(name.len()).expect("a visitor has at most 130 bytes");
        self.slots[slot] = start << LENGTH_BITS | length;
        self.names.push_str(name);
        self.live += 1;
        if u64::from(self.live) == CHUNK {
            self.names.shrink_to_fit();
        }
    }

    fn clear(&mut self, slot: usize) {
        self.dead_bytes += self.name(slot).map_or(0, str::len);
        self.slots[slot] = 0;
        self.live -= 1;
        if self.live > 0 && self.dead_bytes * 2 > self.names.len() {
            self.repack();
        }
    }

    /// Drops the names of ended places once they are more than half.
    fn repack(&mut self) {
        let mut fresh = Self::empty();
        fresh
            .names
            .reserve_exact(self.names.len() - self.dead_bytes);
        for slot in 0..self.slots.len() {
            if let Some(name) = self.name(slot) {
                fresh.put(slot, name);
            }
        }
        *self = fresh;
    }

    fn live_from(&self, slot: usize) -> Option<usize> {
        self.slots[slot..]
            .iter()
            .position(|packed| *packed != 0)
            .map(|found| slot + found)
    }
}

fn split(ordinal: Ordinal) -> (u64, usize) {
    let slot = usize::try_from(ordinal.0 % CHUNK).expect("a chunk fits in memory");
    (ordinal.0 / CHUNK, slot)
}

fn join(chunk: u64, slot: usize) -> Ordinal {
    Ordinal(chunk * CHUNK + slot as u64)
}

/// From other bits than the part that an entry keeps.
fn shard(hash: u64) -> usize {
    usize::try_from(hash >> 40).expect("24 bits fit") % SHARDS
}

/// The bits of a hash that an entry has room for.
fn part(hash: u64) -> u64 {
    hash & (u64::MAX >> ORDINAL_BITS)
}

/// The part of a hash where the table looks for it: in the low bits and in the top ones.
fn spread(part: u64) -> u64 {
    part | part << ORDINAL_BITS
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::UserId;

    fn visitor(n: u64) -> Visitor {
        Visitor::stated(&UserId::parse(&format!("user-{n:0>30}")).unwrap())
    }

    proptest! {
        #[test]
        fn places_answer_like_a_plain_map(
            steps in prop::collection::vec((any::<bool>(), 1_u64..20_000), 1..400),
        ) {
            let mut places = Places::default();
            let mut plain = BTreeMap::new();
            for (add, n) in steps {
                let ordinal = Ordinal(n);
                if add && !plain.contains_key(&ordinal) {
                    places.insert(ordinal, places.name(&visitor(n)));
                    plain.insert(ordinal, visitor(n));
                } else if !add {
                    prop_assert_eq!(places.remove(ordinal), plain.remove(&ordinal).is_some());
                }
                let next = plain.range((Bound::Excluded(ordinal), Bound::Unbounded)).next();
                prop_assert_eq!(places.next_above(ordinal), next.map(|(ordinal, _)| *ordinal));
            }
            prop_assert_eq!(places.len(), plain.len());
            prop_assert!(places.iter().eq(plain.iter().map(|(o, v)| (*o, v.as_str()))));
            for (ordinal, visitor) in &plain {
                prop_assert_eq!(places.ordinal_of(places.name(visitor)), Some(*ordinal));
                let chunk_end = (ordinal.0 / CHUNK + 1) * CHUNK;
                let neighbours = (ordinal.0..chunk_end.min(ordinal.0 + 3))
                    .take_while(|ordinal| plain.contains_key(&Ordinal(*ordinal)));
                prop_assert_eq!(places.live_neighbours(*ordinal, 3), neighbours.count() as u64);
            }
        }
    }

    #[test]
    fn a_chunk_gives_up_the_names_of_those_who_left() {
        let mut places = Places::default();
        for n in 0..4096 {
            places.insert(Ordinal(n), places.name(&visitor(n)));
        }
        let full = places.chunks[&0].names.len();
        for n in 0..4000 {
            places.remove(Ordinal(n));
        }
        assert!(places.chunks[&0].names.capacity() < full / 10);
        assert_eq!(
            places.visitor_at(Ordinal(4095)),
            Some(visitor(4095).as_str())
        );
    }
}
