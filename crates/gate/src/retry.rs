//! When to try again.

use std::{ops::RangeInclusive, time::Duration};

/// At the earliest and at the latest: a crowd that was refused together comes back spread over these seconds.
const RETRY_S: RangeInclusive<u64> = 2..=5;

/// A moment to wait before a room is asked again that did not answer.
pub(crate) fn spread() -> Duration {
    let (first, last) = (RETRY_S.start(), RETRY_S.end());
    let chance = u64::from(getrandom::u32().unwrap_or_default());
    Duration::from_secs(first + chance % (last - first + 1))
}
