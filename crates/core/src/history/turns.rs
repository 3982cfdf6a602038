//! How long people waited whose turn came, counted since the first look.

use std::time::Duration;

use super::Look;

/// Up to which wait those of each bucket waited; there is one more bucket for those who waited longer.
pub const WAIT_BOUNDS: [Duration; 14] = {
    let seconds = [
        1, 5, 10, 30, 60, 120, 300, 600, 1_200, 1_800, 3_600, 7_200, 14_400, 28_800,
    ];
    let mut bounds = [Duration::ZERO; 14];
    let mut at = 0;
    while at < seconds.len() {
        bounds[at] = Duration::from_secs(seconds[at]);
        at += 1;
    }
    bounds
};

/// Waits that have ended with a turn, in buckets. The counts only grow, so that rates can be taken of them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Turns {
    /// How many waited up to each of [`WAIT_BOUNDS`] and longer than the one before; the last, longer than all.
    pub buckets: [u64; WAIT_BOUNDS.len() + 1],
    /// All of these waits together, in seconds.
    pub sum_s: f64,
}

impl Turns {
    /// How many turns came.
    pub fn count(&self) -> u64 {
        self.buckets.iter().sum()
    }

    /// Counts those whose turn came between the last two looks. Those who joined before the first look are left out:
    /// nobody saw when.
    pub(super) fn take<'a>(&mut self, looks: impl DoubleEndedIterator<Item = &'a Look> + Clone) {
        for share in super::waits::last_shares(looks) {
            let bucket = WAIT_BOUNDS.partition_point(|bound| *bound < share.wait);
            self.buckets[bucket] += share.places;
            self.sum_s += share.wait.as_secs_f64() * crate::pace::count(share.places);
        }
    }
}
