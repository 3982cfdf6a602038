//! The places that a node has acknowledged or confirmed in the last seconds.

use std::collections::VecDeque;

use ropeline_core::Holder;

use crate::fleet::schedule::Millis;

/// A server that takes over has everything that is older.
const KEPT_FOR: Millis = 10_000;

#[derive(Debug, Default)]
pub(super) struct Recent(VecDeque<(Millis, Holder)>);

impl Recent {
    pub(super) fn add(&mut self, holder: &Holder, now: Millis) {
        self.drop_old(now);
        self.0.push_back((now, holder.clone()));
    }

    pub(super) fn all(&mut self, now: Millis) -> Vec<Holder> {
        self.drop_old(now);
        self.0.iter().map(|(_, holder)| holder.clone()).collect()
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    fn drop_old(&mut self, now: Millis) {
        while self.0.front().is_some_and(|(at, _)| at + KEPT_FOR < now) {
            self.0.pop_front();
        }
    }
}
