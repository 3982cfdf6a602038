//! The one place where tasks are spawned.

use std::{future::Future, time::Duration};

use tokio::{runtime::Handle, task::JoinHandle, time::timeout};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// Tasks that shutdown waits for. Clones share the same set.
#[derive(Clone, Debug, Default)]
pub struct Tasks {
    tracker: TaskTracker,
    stop: CancellationToken,
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

    /// Asks every task to stop, without waiting.
    pub fn stop(&self) {
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
