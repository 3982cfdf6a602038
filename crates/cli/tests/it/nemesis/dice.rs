//! Chance that a seed repeats.

use std::ops::RangeInclusive;

/// Numbers that the same seed gives again (`SplitMix64`).
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number of a range.
    pub(super) fn roll(&mut self, range: RangeInclusive<u64>) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^= mixed >> 31;
        range.start() + mixed % (range.end() - range.start() + 1)
    }

    /// One of several, each as likely as the others.
    pub(super) fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        let last = of.len() as u64 - 1;
        let at = self.roll(0..=last);
        of[usize::try_from(at).expect("an index")]
    }

    /// Whether something happens that does so many times of a hundred.
    pub(super) fn happens(&mut self, percent: u64) -> bool {
        self.roll(0..=99) < percent
    }
}
