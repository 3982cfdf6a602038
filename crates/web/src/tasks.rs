//! The one place where tasks are spawned.

use std::{
    future::Future,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use tokio::{runtime::Handle, task::JoinHandle, time::timeout};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// Tasks that shutdown waits for. Clones share the same set.
#[derive(Clone, Debug, Default)]
pub struct Tasks {
    tracker: TaskTracker,
    stop: CancellationToken,
    stopped: Arc<AtomicBool>,
}

/// The word to stop, for who looks at it all the time: to look takes no lock.
#[derive(Debug)]
pub(crate) struct StopWord {
    /// Wakes who waits for it.
    pub(crate) token: CancellationToken,
    said: Arc<AtomicBool>,
}

impl StopWord {
    pub(crate) fn was_said(&self) -> bool {
        self.said.load(Ordering::Acquire)
    }
}

impl Tasks {
    /// An empty set that nobody has asked to stop.
    pub fn new() -> Self {
        Self::default()
    }

    /// Runs `future` on the current runtime; [`Tasks::finish`] waits for it.
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future<Output: Send> + Send + 'static,
    {
        self.tracker.spawn(future)
    }

    /// As [`Tasks::spawn`], on another runtime.
    pub(crate) fn spawn_on(
        &self,
        runtime: &Handle,
        future: impl Future<Output: Send> + Send + 'static,
    ) {
        self.tracker.spawn_on(future, runtime);
    }

    /// Tells a task when to stop. Stopping is up to the task.
    pub fn stopping(&self) -> CancellationToken {
        self.stop.child_token()
    }

    pub(crate) fn stop_word(&self) -> StopWord {
        StopWord {
            token: self.stopping(),
            said: Arc::clone(&self.stopped),
        }
    }

    /// Asks every task to stop, without waiting.
    pub fn stop(&self) {
        // Whoever is woken must find it said.
        self.stopped.store(true, Ordering::Release);
        self.stop.cancel();
    }

    /// How many have not ended.
    pub fn running(&self) -> usize {
        self.tracker.len()
    }

    /// Waits for every task to end, at most `limit`; answers how many had not.
    pub async fn finish(&self, limit: Duration) -> usize {
        self.tracker.close();
        match timeout(limit, self.tracker.wait()).await {
            Ok(()) => 0,
            Err(_) => self.tracker.len(),
        }
    }
}
