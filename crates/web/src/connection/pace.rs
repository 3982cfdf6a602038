//! How fast a peer takes an answer that is ready for it.

use tokio::time::Instant;

/// Less than the slowest mobile networks carry. A peer that takes less holds a connection and the
/// memory of its answer for as long as it likes.
const BYTES_PER_SECOND_MIN: u128 = 1_024;

/// A span of time in which a peer keeps the server waiting, and what it had taken before.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    pub(super) since: Instant,
    written_before: u64,
}

impl Pace {
    pub(super) fn begin(now: Instant, written: u64) -> Self {
        Self {
            since: now,
            written_before: written,
        }
    }

    /// The next span, unless the peer was too slow in this one.
    pub(super) fn next(self, now: Instant, written: u64) -> Option<Self> {
        let taken = u128::from(written.saturating_sub(self.written_before));
        let span = now.saturating_duration_since(self.since);
        let enough = taken * 1_000 >= BYTES_PER_SECOND_MIN * span.as_millis();
        enough.then(|| Self::begin(now, written))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_peer_has_to_take_a_kibibyte_in_each_second_of_a_span() {
        let start = Instant::now();
        let end = start + Duration::from_secs(30);
        let pace = Pace::begin(start, 7);
        assert!(pace.next(end, 7).is_none());
        assert!(pace.next(end, 7 + 30 * 1_024 - 1).is_none());
        assert!(pace.next(end, 7 + 30 * 1_024).is_some());
    }

    #[test]
    fn what_was_taken_in_one_span_does_not_count_in_the_next() {
        let start = Instant::now();
        let [first, second] = [30, 60].map(|seconds| start + Duration::from_secs(seconds));
        let pace = Pace::begin(start, 0).next(first, 1_000_000).unwrap();
        assert!(pace.next(second, 1_000_000).is_none());
        assert!(pace.next(second, 1_000_000 + 30 * 1_024).is_some());
    }
}
