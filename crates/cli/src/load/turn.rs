//! A question from the moment when it was to be sent until it is answered.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use super::{crowd::Crowd, judge::At};

/// A question on its way. What delays it counts, also if it is the asker's own fault: whoever stands in for a
/// thousand visitors must not wait for the server and call that the server's rest.
#[derive(Debug)]
pub(crate) struct Turn {
    crowd: Arc<Crowd>,
    /// From here on, its latency counts.
    pub(crate) due: At,
    /// When its visitor turned to it.
    pub(crate) begun: At,
    /// The part of the schedule that it belongs to.
    pub(crate) step: Option<usize>,
}

/// How many questions are on their way.
#[derive(Debug, Default)]
pub(crate) struct Flight {
    now: AtomicU64,
    most: AtomicU64,
}

impl Turn {
    /// A question that somebody asks because it is time to.
    pub(crate) fn now(crowd: &Arc<Crowd>) -> Self {
        Self::begin(crowd, crowd.now(), None)
    }

    /// A question that was due by the schedule.
    pub(crate) fn scheduled(crowd: &Arc<Crowd>, due: At, step: usize) -> Self {
        let turn = Self::begin(crowd, due, Some(step));
        let late = turn.begun.saturating_sub(due);
        crowd.tally().sent_late.add(late);
        turn
    }

    fn begin(crowd: &Arc<Crowd>, due: At, step: Option<usize>) -> Self {
        crowd.flight.begin();
        Self {
            crowd: Arc::clone(crowd),
            due,
            begun: crowd.now(),
            step,
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.crowd.flight.now.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Flight {
    fn begin(&self) {
        let now = self.now.fetch_add(1, Ordering::Relaxed) + 1;
        self.most.fetch_max(now, Ordering::Relaxed);
    }

    /// Forgets how many there were at once so far.
    pub(crate) fn forget(&self) {
        self.most.store(self.now(), Ordering::Relaxed);
    }

    pub(crate) fn now(&self) -> u64 {
        self.now.load(Ordering::Relaxed)
    }

    pub(crate) fn most(&self) -> u64 {
        self.most.load(Ordering::Relaxed)
    }
}
