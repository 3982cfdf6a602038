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
    time::Duration,
};

use tokio::time::Instant;

/// A request is in progress.
const BUSY: u64 = u64::MAX;
/// Somebody else needs the connection's place.
const CLOSING: u64 = u64::MAX - 1;

/// What a connection waits for from its peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wait {
    /// For the first byte, or the rest, of a request's head.
    Request,
    /// For the rest of a request's body.
    Body,
    /// Until it takes more of an answer.
    Answer,
}

impl Wait {
    /// How long a peer that holds few connections may take, however many others need its place. Bodies
    /// follow their heads after a round trip, and slow networks take a piece of an answer now and then.
    pub(super) fn grace(self) -> Duration {
        match self {
            Self::Request => Duration::ZERO,
            Self::Body => Duration::from_secs(2),
            Self::Answer => Duration::from_secs(5),
        }
    }
}

/// A connection that waits for its peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Waiting {
    /// In milliseconds.
    pub(super) since: u64,
    pub(super) wait: Wait,
}

impl Waiting {
    fn to_state(self) -> u64 {
        self.since * 4 + self.wait as u64
    }

    fn from_state(state: u64) -> Self {
        let wait = match state % 4 {
            0 => Wait::Request,
            1 => Wait::Body,
            _ => Wait::Answer,
        };
        let since = state / 4;
        Self { since, wait }
    }
}

/// Written by the connection's task with each request, and read by the task that makes room.
#[derive(Debug)]
pub(crate) struct Activity {
    /// Where times are counted from.
    start: Instant,
    /// [`BUSY`], [`CLOSING`], or a [`Waiting`].
    state: AtomicU64,
    /// Where the connection stands among those of its address. Changed under the lock of `Occupancy` only.
    listed: AtomicU64,
    task: OnceLock<Waker>,
}

impl Activity {
    /// A new connection, which waits for its first byte.
    pub(super) fn begin(start: Instant, now: u64) -> Self {
        let waiting = Waiting {
            since: now,
            wait: Wait::Request,
        };
        Self {
            start,
            state: AtomicU64::new(waiting.to_state()),
            listed: AtomicU64::new(now),
            task: OnceLock::new(),
        }
    }

    /// Names the task that is woken when the connection has to close.
    pub(crate) fn set_task(&self, task: Waker) {
        self.task.get_or_init(|| task);
    }

    /// Since then only the peer can make this connection go on.
    pub(crate) fn waits_since(&self, since: Instant, wait: Wait) {
        let since = millis(self.start, since);
        self.state
            .store(Waiting { since, wait }.to_state(), Release);
    }

    /// A request is in progress, so the connection must not be closed.
    pub(crate) fn is_busy(&self) {
        self.state.store(BUSY, Release);
    }

    /// Whether the connection has to close. A request that began in the meantime revokes it.
    pub(crate) fn has_to_close(&self) -> bool {
        self.state.load(Relaxed) == CLOSING
    }

    /// What the connection waits for from its peer, unless it is busy or closing.
    pub(super) fn waiting(&self) -> Option<Waiting> {
        let state = self.state.load(Acquire);
        (state < CLOSING).then(|| Waiting::from_state(state))
    }

    /// Closes the connection if the same wait still goes on.
    pub(super) fn close(&self, waiting: Waiting) -> bool {
        let closed = self
            .state
            .compare_exchange(waiting.to_state(), CLOSING, AcqRel, Relaxed)
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
    // A quarter is left, because a state holds the kind of wait as well.
    u64::try_from(since_start)
        .unwrap_or(u64::MAX)
        .min(u64::MAX / 8)
}
