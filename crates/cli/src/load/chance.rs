//! Chance that can be repeated.

use std::{
    hash::{BuildHasher, Hasher, RandomState},
    time::Duration,
};

use crate::units::Spans;

/// A generator of random numbers (`SplitMix64`): the same seed gives the same crowd.
#[derive(Debug, Clone)]
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// From 0 to just below 1.
    #[expect(clippy::cast_precision_loss, reason = "53 bits fit exactly")]
    pub(crate) fn part(&mut self) -> f64 {
        (self.number() >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub(crate) fn happens(&mut self, share: f64) -> bool {
        self.part() < share
    }

    pub(crate) fn between(&mut self, spans: Spans) -> Duration {
        spans.shortest
            + spans
                .longest
                .saturating_sub(spans.shortest)
                .mul_f64(self.part())
    }
}

/// A number that nobody foresees: two runs with the same seed are still two crowds.
pub(crate) fn unforeseen() -> u64 {
    RandomState::new().build_hasher().finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_numbers() {
        let (mut one, mut other) = (Chance::new(7), Chance::new(7));
        for _ in 0..100 {
            assert_eq!(one.number(), other.number());
        }
        assert_ne!(Chance::new(7).number(), Chance::new(8).number());
    }

    #[test]
    fn a_share_happens_about_as_often_as_it_says() {
        let mut chance = Chance::new(1);
        let hits = (0..10_000).filter(|_| chance.happens(0.3)).count();
        assert!((2_800..3_200).contains(&hits), "{hits}");
        assert!(!chance.happens(0.0));
        assert!(chance.happens(1.0));
    }
}
