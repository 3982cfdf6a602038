//! What one connection is doing, as far as the others need to know it.

use std::{
    sync::{
        OnceLock,
        atomic::{
            AtomicU64,
            Ordering::{AcqRel, Acquire, Relaxed, Release},
        },
    },
    task::Waker,
};

use tokio::time::Instant;

/// A request is in progress.
const BUSY: u64 = u64::MAX;
/// Somebody else needs the connection's place.
const CLOSING: u64 = u64::MAX - 1;

/// Written by the connection's task with each request, and read by the task that makes room.
#[derive(Debug)]
pub(crate) struct Activity {
    /// Where times are counted from.
    start: Instant,
    /// [`BUSY`], [`CLOSING`], or the millisecond since which the connection has waited for its peer.
    state: AtomicU64,
    /// Where the connection stands among those of its address. Changed under the lock of `Occupancy` only.
    listed: AtomicU64,
    task: OnceLock<Waker>,
}

impl Activity {
    /// A new connection, which waits for its first byte.
    pub(super) fn begin(start: Instant, now: u64) -> Self {
        Self {
            start,
            state: AtomicU64::new(now),
            listed: AtomicU64::new(now),
            task: OnceLock::new(),
        }
    }

    /// Names the task that is woken when the connection has to close.
    pub(crate) fn set_task(&self, task: Waker) {
        self.task.get_or_init(|| task);
    }

    /// From `since` on only the peer can make this connection go on. A later time than now is a
    /// grace, during which it does not count as idle.
    pub(crate) fn waits_since(&self, since: Instant) {
        self.state.store(millis(self.start, since), Release);
    }

    /// A request is in progress, so the connection must not be closed.
    pub(crate) fn is_busy(&self) {
        self.state.store(BUSY, Release);
    }

    /// Whether the connection has to close. A request that began in the meantime revokes it.
    pub(crate) fn has_to_close(&self) -> bool {
        self.state.load(Relaxed) == CLOSING
    }

    /// Since when the connection has waited for its peer, unless it is busy or closing.
    pub(super) fn idle_since(&self) -> Option<u64> {
        let state = self.state.load(Acquire);
        (state < CLOSING).then_some(state)
    }

    /// Closes the connection if it is still idle since then.
    pub(super) fn close(&self, since: u64) -> bool {
        let closed = self
            .state
            .compare_exchange(since, CLOSING, AcqRel, Relaxed)
            .is_ok();
        if closed && let Some(task) = self.task.get() {
            task.wake_by_ref();
        }
        closed
    }

    /// The connection has ended.
    pub(super) fn end(&self) {
        self.is_busy();
    }

    pub(super) fn listed(&self) -> u64 {
        self.listed.load(Relaxed)
    }

    pub(super) fn set_listed(&self, since: u64) {
        self.listed.store(since, Relaxed);
    }
}

pub(super) fn millis(start: Instant, at: Instant) -> u64 {
    let since_start = at.saturating_duration_since(start).as_millis();
    u64::try_from(since_start).unwrap_or(CLOSING - 1)
}
