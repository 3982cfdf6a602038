//! Trouble that is told once in a while, however many requests meet it.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

/// A crowd that meets the same trouble must not fill the log.
const EVERY: Duration = Duration::from_secs(10);

/// What went wrong since it was last told.
#[derive(Debug, Default)]
pub(crate) struct Trouble(Mutex<Since>);

#[derive(Debug, Default)]
struct Since {
    told: Option<Instant>,
    times: u64,
}

impl Trouble {
    /// Counts one more; how many it has been, when it is time to tell.
    pub(crate) fn met(&self) -> Option<u64> {
        let now = Instant::now();
        let mut since = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        since.times += 1;
        let due = since.told.is_none_or(|told| now >= told + EVERY);
        due.then(|| {
            since.told = Some(now);
            std::mem::take(&mut since.times)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_crowd_in_trouble_is_told_once_in_ten_seconds() {
        let trouble = Trouble::default();
        assert_eq!(trouble.met(), Some(1));
        assert_eq!(trouble.met(), None);
        assert_eq!(trouble.met(), None);
        tokio::time::advance(EVERY).await;
        assert_eq!(trouble.met(), Some(3));
    }
}
