//! What a line was like lately, for those who run it.
//!
//! Nothing is remembered of single visitors. How far the line had grown and how far it had been served at
//! a time is enough: who took place `n` joined when `issued` reached `n`, and had their turn when `head` did.

mod turns;
mod waits;

use std::{collections::VecDeque, time::Duration};

pub use turns::{Turns, WAIT_BOUNDS};
pub use waits::{Grade, Waits};

use crate::{Counters, Estimate, Timestamp, View, estimate};

/// Looks closer together than this are not kept.
const LOOK_MIN: Duration = Duration::from_secs(1);
/// So many looks are remembered by the second…
const RECENT_MAX: usize = 300;
/// …and so many before that, further apart the longer ago they reach: hours are remembered by the minute.
const OLDER_MAX: usize = 1_024;
/// What is longer ago is forgotten.
const MEMORY: Duration = Duration::from_secs(12 * 3_600);

/// One look at a line.
#[derive(Debug, Clone, Copy)]
pub struct Look {
    /// Room time.
    pub at: Timestamp,
    /// The highest ordinal given.
    pub issued: u64,
    /// The highest ordinal admitted or stepped over.
    pub head: u64,
    /// How many were in line.
    pub waiting: u64,
    /// How many were inside.
    pub inside: u64,
    /// Totals up to then.
    pub counters: Counters,
    /// What the last in line would have been told.
    estimate: Option<Estimate>,
}

impl Look {
    fn at(view: &View) -> Self {
        let waiting = view.waiting();
        let last_in_line = waiting.checked_sub(1);
        Self {
            at: view.as_of,
            issued: view.header.issued.0,
            head: view.header.head.0,
            waiting,
            inside: view.inside,
            counters: view.header.counters,
            estimate: last_in_line.and_then(|ahead| estimate(view, ahead, view.as_of)),
        }
    }
}

/// How much happened per minute.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Rates {
    /// New places.
    pub joined: f64,
    /// New passes.
    pub admitted: f64,
    /// Passes that ended.
    pub departed: f64,
    /// Places given up.
    pub left: f64,
}

/// The last looks at one room.
#[derive(Debug, Clone, Default)]
pub struct History {
    epoch: Timestamp,
    recent: VecDeque<Look>,
    older: VecDeque<Look>,
    /// Older looks are at least this far apart.
    spacing: Duration,
    turns: Turns,
}

impl History {
    /// Takes a look, unless the last one was a moment ago. A room that began again has no history.
    pub fn observe(&mut self, view: &View) {
        if self.epoch != view.header.epoch {
            *self = Self {
                epoch: view.header.epoch,
                spacing: LOOK_MIN,
                ..Self::default()
            };
        }
        let soon = |last: &Look| view.as_of < last.at + LOOK_MIN;
        if self.recent.back().is_some_and(soon) {
            return;
        }
        let served = self.recent.back().map(|last| last.head);
        self.recent.push_back(Look::at(view));
        if served != Some(view.header.head.0) {
            self.turns.take(self.older.iter().chain(&self.recent));
        }
        if self.recent.len() > RECENT_MAX
            && let Some(oldest) = self.recent.pop_front()
        {
            self.put_away(oldest);
        }
    }

    /// The looks, oldest first.
    pub fn looks(&self) -> impl DoubleEndedIterator<Item = &Look> {
        self.older.iter().chain(&self.recent)
    }

    /// What happened per minute within the last `window`, or since the first look.
    pub fn rates(&self, window: Duration) -> Rates {
        let Some(last) = self.recent.back() else {
            return Rates::default();
        };
        let from = last.at - window;
        let first = self.looks().find(|look| look.at >= from).unwrap_or(last);
        let minutes = last.at.since(first.at).as_secs_f64() / 60.0;
        let per_minute = |earlier: u64, later: u64| {
            if minutes == 0.0 {
                return 0.0;
            }
            crate::pace::count(later.saturating_sub(earlier)) / minutes
        };
        let (before, after) = (&first.counters, &last.counters);
        Rates {
            joined: per_minute(first.issued, last.issued),
            admitted: per_minute(before.admitted, after.admitted),
            departed: per_minute(before.departed, after.departed),
            left: per_minute(before.left, after.left),
        }
    }

    /// How long those waited whose turn came within the last `window`.
    pub fn waits(&self, window: Duration) -> Waits {
        waits::waits(&self.all(), window)
    }

    /// How long those waited whose turn came since the first look.
    pub fn turns(&self) -> &Turns {
        &self.turns
    }

    /// How good the estimates were that came due within the last `window`.
    pub fn grade(&self, window: Duration) -> Grade {
        waits::grade(&self.all(), window)
    }

    fn all(&self) -> Vec<Look> {
        self.looks().copied().collect()
    }

    fn put_away(&mut self, look: Look) {
        if self
            .older
            .back()
            .is_some_and(|last| look.at < last.at + self.spacing)
        {
            return;
        }
        self.older.push_back(look);
        while self
            .older
            .front()
            .is_some_and(|first| first.at + MEMORY < look.at)
        {
            self.older.pop_front();
        }
        if self.older.len() > OLDER_MAX {
            self.spacing *= 2;
            let mut at = 0;
            self.older.retain(|_| {
                at += 1;
                at % 2 == 1
            });
        }
    }
}

#[cfg(test)]
mod tests;
