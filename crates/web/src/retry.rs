//! When to try again.

use std::{ops::RangeInclusive, time::Duration};

/// At the earliest and at the latest, in seconds.
const SOON: RangeInclusive<u64> = 2..=5;

/// When to try again what could not be done for now: a crowd that was refused together comes back spread over seconds.
pub fn retry_soon() -> Duration {
    let (first, last) = (SOON.start(), SOON.end());
    let chance = u64::from(getrandom::u32().unwrap_or_default());
    Duration::from_secs(first + chance % (last - first + 1))
}
