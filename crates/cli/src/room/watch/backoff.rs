//! When to ask a server again that did not answer.

use std::time::Duration;

const LONGEST: Duration = Duration::from_secs(30);

/// Twice as long after each failure in a row.
#[derive(Debug)]
pub(super) struct Backoff {
    usual: Duration,
    failures: u32,
}

impl Backoff {
    /// Asks this often while all is well.
    pub(super) fn new(usual: Duration) -> Self {
        Self { usual, failures: 0 }
    }

    /// The pause after an answer.
    pub(super) fn answered(&mut self) -> Duration {
        self.failures = 0;
        self.usual
    }

    /// The pause after a failure that asked for at least so long.
    pub(super) fn failed(&mut self, at_least: Duration) -> Duration {
        let longer = self.usual.saturating_mul(1 << self.failures.min(10));
        self.failures += 1;
        longer.min(LONGEST.max(self.usual)).max(at_least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_half_a_minute_and_an_answer_ends_that() {
        let mut backoff = Backoff::new(Duration::from_secs(1));
        let mut pauses = Vec::new();
        for _ in 0..7 {
            pauses.push(backoff.failed(Duration::ZERO).as_secs());
        }
        assert_eq!(pauses, [1, 2, 4, 8, 16, 30, 30]);
        assert_eq!(backoff.answered(), Duration::from_secs(1));
        let told = Duration::from_secs(45);
        assert_eq!(backoff.failed(told), told);
    }
}
