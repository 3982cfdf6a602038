//! The one place where the clock is read.

use std::time::{Duration, Instant, SystemTime};

use ropeline_core::{Clock, Timestamp};

/// The machine's clock: the time of day at the start, and from then on a clock that nobody can set.
#[derive(Debug)]
pub struct SystemClock {
    started: Instant,
    started_at: Duration,
}

impl SystemClock {
    /// Reads the time of day once.
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the place that reads the clock"
    )]
    pub fn start() -> Self {
        let since_epoch = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        Self {
            started: Instant::now(),
            started_at: since_epoch.unwrap_or_default(),
        }
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        let now = self.started_at + self.started.elapsed();
        Timestamp(u64::try_from(now.as_millis()).unwrap_or(u64::MAX))
    }
}
