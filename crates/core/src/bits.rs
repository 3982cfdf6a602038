//! A set of ordinals as bits with prefix counts.
//!
//! Counting the members below an ordinal costs the same for the tenth and for the ten-millionth. A clone
//! shares everything with its origin until one of them changes, and then only the chunk that changed is
//! copied: that is what makes publishing a new [`View`](crate::View) after each commit cheap.

use std::{collections::BTreeMap, ops::Range, sync::Arc};

/// Bits in a block, the unit that is counted at once and written to disk.
pub const BLOCK_BITS: u64 = 512;
const BLOCK_WORDS: usize = 8;
/// Bits in a chunk, the unit that is copied on write: 8 KiB.
const CHUNK_BITS: u64 = 1 << 16;
const CHUNK_BLOCKS: usize = 128;
const CHUNK_WORDS: usize = CHUNK_BLOCKS * BLOCK_WORDS;

/// The bits of one block, lowest first.
pub type Block = [u64; BLOCK_WORDS];

/// A set of numbers. Most sets only grow, except that [`Bits::forget_below`] drops their lower end.
#[derive(Debug, Clone, Default)]
pub struct Bits(Arc<Chunks>);

#[derive(Debug, Clone, Default)]
struct Chunks {
    /// Number of the chunk that `list` starts with; what is below has been forgotten.
    first: u64,
    /// `None` where no bit of the chunk is set.
    list: Vec<Option<Arc<Chunk>>>,
    /// How many bits are set in the chunks of `list` before each one.
    before: Vec<u64>,
}

#[derive(Debug, Clone)]
struct Chunk {
    words: [u64; CHUNK_WORDS],
    /// How many bits are set in the blocks of this chunk before each one.
    before: [u16; CHUNK_BLOCKS],
    count: u32,
}

impl Bits {
    /// Whether the number is a member.
    pub fn contains(&self, number: u64) -> bool {
        let (chunk, bit) = split(number);
        self.chunk(chunk)
            .is_some_and(|chunk| chunk.words[bit / 64] >> (bit % 64) & 1 == 1)
    }

    /// Adds a number; says whether it is new. A number that has been forgotten is not added.
    pub fn insert(&mut self, number: u64) -> bool {
        let (index, bit) = split(number);
        if index < self.0.first || self.contains(number) {
            return false;
        }
        let chunks = Arc::make_mut(&mut self.0);
        let at = chunks.reach(index);
        chunks.chunk_mut(at).set(bit);
        for before in &mut chunks.before[at + 1..] {
            *before += 1;
        }
        true
    }

    /// Removes a number; says whether it was a member.
    pub fn remove(&mut self, number: u64) -> bool {
        if !self.contains(number) {
            return false;
        }
        let (index, bit) = split(number);
        let chunks = Arc::make_mut(&mut self.0);
        let at = chunks.reach(index);
        let chunk = chunks.chunk_mut(at);
        chunk.clear(bit);
        if chunk.count == 0 {
            chunks.list[at] = None;
        }
        for before in &mut chunks.before[at + 1..] {
            *before -= 1;
        }
        true
    }

    /// How many members lie in the range. Forgotten ones are not counted.
    pub fn count(&self, range: Range<u64>) -> u64 {
        self.rank(range.end).saturating_sub(self.rank(range.start))
    }

    /// Members in rising order, from `start` on.
    pub fn iter_from(&self, start: u64) -> impl Iterator<Item = u64> + '_ {
        let first = self.0.first;
        let skip =
            usize::try_from((start / CHUNK_BITS).saturating_sub(first)).unwrap_or(usize::MAX);
        let chunks = self.0.list.iter().enumerate().skip(skip);
        let members = chunks.flat_map(move |(at, chunk)| {
            let base = (first + at as u64) * CHUNK_BITS;
            chunk
                .iter()
                .flat_map(move |chunk| chunk.iter().map(move |bit| base + bit))
        });
        members.skip_while(move |number| *number < start)
    }

    /// Members of `other` that are not members here, in rising order.
    pub fn new_in(&self, other: &Self) -> Vec<u64> {
        if Arc::ptr_eq(&self.0, &other.0) {
            return Vec::new();
        }
        let floor = self.0.first * CHUNK_BITS;
        other
            .iter_from(floor)
            .filter(|number| !self.contains(*number))
            .collect()
    }

    /// Forgets whole chunks that lie below the number.
    pub fn forget_below(&mut self, number: u64) {
        let first = number / CHUNK_BITS;
        if first <= self.0.first {
            return;
        }
        let chunks = Arc::make_mut(&mut self.0);
        let drop = usize::try_from(first - chunks.first)
            .unwrap_or(usize::MAX)
            .min(chunks.list.len());
        chunks.list.drain(..drop);
        chunks.first = first;
        chunks.recount();
    }

    /// The bits of block number `block` (each has [`BLOCK_BITS`]).
    pub fn block(&self, block: u64) -> Block {
        let (index, bit) = split(block * BLOCK_BITS);
        let mut out = Block::default();
        if let Some(chunk) = self.chunk(index) {
            out.copy_from_slice(&chunk.words[bit / 64..bit / 64 + BLOCK_WORDS]);
        }
        out
    }

    /// Makes a set of blocks that [`Bits::block`] gave out, in any order.
    pub fn from_blocks(blocks: impl IntoIterator<Item = (u64, Block)>) -> Self {
        let mut chunks = Chunks::default();
        for (block, bits) in blocks {
            let (index, bit) = split(block * BLOCK_BITS);
            let at = chunks.reach(index);
            chunks.chunk_mut(at).words[bit / 64..bit / 64 + BLOCK_WORDS].copy_from_slice(&bits);
        }
        for chunk in chunks.list.iter_mut().flatten() {
            Arc::make_mut(chunk).recount();
        }
        chunks.recount();
        Self(Arc::new(chunks))
    }

    /// Makes a set of a bitmap whose first bit, the highest of the first byte, stands for `base`.
    pub fn from_bitmap(base: u64, bitmap: &[u8]) -> Self {
        let mut blocks: BTreeMap<u64, Block> = BTreeMap::new();
        for (number, byte) in bitmap.iter().enumerate().filter(|(_, byte)| **byte != 0) {
            for bit in (0..8).filter(|bit| byte >> (7 - bit) & 1 == 1) {
                let member = base + number as u64 * 8 + bit;
                let (_, at) = split(member % BLOCK_BITS);
                blocks.entry(member / BLOCK_BITS).or_default()[at / 64] |= 1 << (at % 64);
            }
        }
        Self::from_blocks(blocks)
    }

    /// The members from `base` on as a bitmap, in the form that [`Bits::from_bitmap`] takes.
    pub fn to_bitmap(&self, base: u64) -> Vec<u8> {
        let mut bitmap = Vec::new();
        for member in self.iter_from(base) {
            let bit = usize::try_from(member - base).expect("a line fits in memory");
            if bitmap.len() <= bit / 8 {
                bitmap.resize(bit / 8 + 1, 0);
            }
            bitmap[bit / 8] |= 0x80 >> (bit % 8);
        }
        bitmap
    }

    fn rank(&self, end: u64) -> u64 {
        let (index, bit) = split(end);
        let Some(at) = index.checked_sub(self.0.first) else {
            return 0;
        };
        let at = usize::try_from(at).unwrap_or(usize::MAX);
        match self.0.list.get(at) {
            None => self.0.before.last().copied().unwrap_or(0) + self.0.last_count(),
            Some(None) => self.0.before[at],
            Some(Some(chunk)) => self.0.before[at] + chunk.rank(bit),
        }
    }

    fn chunk(&self, index: u64) -> Option<&Chunk> {
        let at = usize::try_from(index.checked_sub(self.0.first)?).ok()?;
        self.0.list.get(at)?.as_deref()
    }
}

impl Chunks {
    /// Where the chunk is in the list, which grows to hold it.
    fn reach(&mut self, index: u64) -> usize {
        let at = usize::try_from(index - self.first).expect("a line fits in memory");
        if at >= self.list.len() {
            let total = self.before.last().copied().unwrap_or(0) + self.last_count();
            self.list.resize(at + 1, None);
            self.before.resize(at + 1, total);
        }
        at
    }

    fn chunk_mut(&mut self, at: usize) -> &mut Chunk {
        Arc::make_mut(self.list[at].get_or_insert_with(|| Arc::new(Chunk::empty())))
    }

    fn last_count(&self) -> u64 {
        self.list
            .last()
            .and_then(Option::as_ref)
            .map_or(0, |chunk| u64::from(chunk.count))
    }

    fn recount(&mut self) {
        let mut total = 0;
        self.before.clear();
        for chunk in &self.list {
            self.before.push(total);
            total += chunk.as_ref().map_or(0, |chunk| u64::from(chunk.count));
        }
    }
}

impl Chunk {
    fn empty() -> Self {
        Self {
            words: [0; CHUNK_WORDS],
            before: [0; CHUNK_BLOCKS],
            count: 0,
        }
    }

    fn set(&mut self, bit: usize) {
        self.words[bit / 64] |= 1 << (bit % 64);
        self.count += 1;
        for before in &mut self.before[bit / 64 / BLOCK_WORDS + 1..] {
            *before += 1;
        }
    }

    fn clear(&mut self, bit: usize) {
        self.words[bit / 64] &= !(1 << (bit % 64));
        self.count -= 1;
        for before in &mut self.before[bit / 64 / BLOCK_WORDS + 1..] {
            *before -= 1;
        }
    }

    /// How many bits are set below `bit`.
    fn rank(&self, bit: usize) -> u64 {
        let word = bit / 64;
        let block = word / BLOCK_WORDS;
        let whole: u32 = self.words[block * BLOCK_WORDS..word]
            .iter()
            .map(|w| w.count_ones())
            .sum();
        let part = (self.words[word] & ((1 << (bit % 64)) - 1)).count_ones();
        u64::from(self.before[block]) + u64::from(whole + part)
    }

    fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        self.words.iter().enumerate().flat_map(|(at, word)| {
            let mut rest = *word;
            std::iter::from_fn(move || {
                let bit = rest.trailing_zeros();
                rest &= rest.wrapping_sub(1);
                (bit < 64).then_some(at as u64 * 64 + u64::from(bit))
            })
        })
    }

    fn recount(&mut self) {
        self.count = 0;
        for (block, words) in self.words.chunks_exact(BLOCK_WORDS).enumerate() {
            self.before[block] =
                u16::try_from(self.count).expect("a chunk has fewer bits before its last block");
            self.count += words.iter().map(|word| word.count_ones()).sum::<u32>();
        }
    }
}

fn split(number: u64) -> (u64, usize) {
    let bit = usize::try_from(number % CHUNK_BITS).expect("a chunk's bits fit in a word");
    (number / CHUNK_BITS, bit)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn counts_and_members_equal_those_of_a_plain_set(
            numbers in prop::collection::vec(0_u64..400_000, 0..200),
            removed in prop::collection::vec(0_u64..400_000, 0..50),
            probes in prop::collection::vec(0_u64..450_000, 0..50),
            floor in 0_u64..300_000,
        ) {
            let mut bits = Bits::default();
            let mut plain = BTreeSet::new();
            for number in numbers {
                prop_assert_eq!(bits.insert(number), plain.insert(number));
            }
            let some = plain.iter().copied().step_by(3).chain(removed);
            for number in some.collect::<Vec<_>>() {
                prop_assert_eq!(bits.remove(number), plain.remove(&number));
            }
            let shared = bits.clone();
            bits.forget_below(floor);
            plain.retain(|number| *number >= floor / CHUNK_BITS * CHUNK_BITS);
            for pair in probes.windows(2) {
                let range = pair[0].min(pair[1])..pair[0].max(pair[1]);
                prop_assert_eq!(bits.count(range.clone()), plain.range(range).count() as u64);
                prop_assert_eq!(bits.contains(pair[0]), plain.contains(&pair[0]));
            }
            prop_assert!(bits.iter_from(0).eq(plain.iter().copied()));
            prop_assert!(shared.iter_from(floor).eq(plain.range(floor..).copied()));
            let blocks = (0..1_000).map(|block| (block, bits.block(block)));
            let again = Bits::from_blocks(blocks);
            prop_assert!(again.iter_from(0).eq(plain.iter().copied()));
            prop_assert_eq!(again.count(0..500_000), plain.len() as u64);
            let base = floor / 8 * 8;
            let again = Bits::from_bitmap(base, &bits.to_bitmap(base));
            prop_assert!(again.iter_from(0).eq(plain.range(base..).copied()));
        }
    }

    #[test]
    fn a_clone_does_not_see_later_changes() {
        let mut bits = Bits::default();
        bits.insert(5);
        let before = bits.clone();
        bits.insert(6);
        assert!(!before.contains(6));
        assert_eq!(before.count(0..100), 1);
        assert_eq!(bits.new_in(&before), Vec::<u64>::new());
        assert_eq!(before.new_in(&bits), vec![6]);
    }
}
