//! Counts that each thread has for itself, so that cores which count at the same time do not wait for each other.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

/// Threads with counts of their own; more than these share them.
pub(super) const THREADS: usize = 16;

thread_local! {
    /// Which counts are this thread's.
    static HERE: usize = {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        NEXT.fetch_add(1, Relaxed) % THREADS
    };
}

/// A `T` for each thread.
#[derive(Debug, Default)]
pub(super) struct PerThread<T>([Apart<T>; THREADS]);

/// On cache lines of its own.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Apart<T>(T);

impl<T> PerThread<T> {
    /// That of the calling thread.
    pub(super) fn here(&self) -> &T {
        let Apart(own) = &self.0[HERE.with(|here| *here)];
        own
    }

    /// A count of all threads together.
    pub(super) fn sum(&self, of: impl Fn(&T) -> &AtomicU64) -> u64 {
        let counts = self.0.iter().map(|Apart(own)| of(own).load(Relaxed));
        counts.sum()
    }
}

/// Counts so much more.
pub(super) fn add(count: &AtomicU64, more: u64) {
    count.fetch_add(more, Relaxed);
}
