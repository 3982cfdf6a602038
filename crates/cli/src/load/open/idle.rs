//! Visitors who wait in line and are not asking just now.

use std::{collections::VecDeque, sync::Mutex};

use tokio::sync::Semaphore;

use crate::load::questions::Desk;

/// Whoever has not asked for longest is next. A visitor asks one thing at a time, so two answers to the same
/// one never overtake each other.
pub(super) struct Idle {
    desks: Mutex<VecDeque<Desk>>,
    count: Semaphore,
}

impl Idle {
    pub(super) fn new() -> Self {
        Self {
            desks: Mutex::default(),
            count: Semaphore::new(0),
        }
    }

    pub(super) fn put(&self, desk: Desk) {
        let desks = self.desks.lock();
        desks.expect("nobody panics in here").push_back(desk);
        self.count.add_permits(1);
    }

    /// The next who is free, as soon as there is one.
    pub(super) async fn take(&self) -> Option<Desk> {
        self.count.acquire().await.ok()?.forget();
        self.pop()
    }

    /// The next who is free now.
    pub(super) fn try_take(&self) -> Option<Desk> {
        self.count.try_acquire().ok()?.forget();
        self.pop()
    }

    fn pop(&self) -> Option<Desk> {
        let mut desks = self.desks.lock().expect("nobody panics in here");
        desks.pop_front()
    }
}
