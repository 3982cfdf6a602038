//! When a holder certainly counts as present.

use std::time::Duration;

use super::{Evidence, Spans, Story};
use crate::history::{
    LAG,
    fault::{Kind, Target},
    record::{At, Op, Record, State},
};

/// A node passes on who was heard of within a second; as much again for a busy machine.
const PASSED_ON: Duration = Duration::from_secs(2);

impl Evidence<'_> {
    pub(super) fn presence_of(&self, story: &Story<'_>) -> Spans {
        let ttl = self.history.policy.presence_ttl;
        if ttl.is_zero() {
            return Spans::of(vec![(story.asked, At::MAX)]);
        }
        let heard = story.records.iter().filter_map(|record| {
            let from = self.heard_of(record)?;
            let to = record.t0 + ttl;
            Some((from, to.min(self.next_loss(record.t0))))
        });
        Spans::of(heard.collect())
    }

    /// From when on the store certainly knows that the holder is there.
    fn heard_of(&self, record: &Record) -> Option<At> {
        if record.state() != Some(State::Waiting) {
            return None;
        }
        match record.op {
            Op::Join => return Some(record.t1),
            // It was not the holder who asked.
            Op::Find => return None,
            _ => {}
        }
        let passed_on = record.t1 + PASSED_ON;
        let arrives = self.store_was_up(record.t0, passed_on)
            && !self.befell(Target::Node(record.node), record.t0, passed_on);
        arrives.then_some(passed_on)
    }

    /// When a store forgets what it has just heard. What it heard long before it has copied; and where nothing is left,
    /// the line waits for everybody.
    fn next_loss(&self, heard_at: At) -> At {
        let lost = self.forgettings().filter(|outage| {
            outage.kind == Kind::Forgot && outage.touches(heard_at, heard_at + PASSED_ON + LAG)
        });
        lost.map(|outage| outage.from).min().unwrap_or(At::MAX)
    }
}
