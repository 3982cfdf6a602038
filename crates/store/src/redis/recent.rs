//! What a node has acknowledged: the highest ordinal, and the places of the last seconds, which it sends again when a server
//! takes over.

use std::{collections::VecDeque, time::Duration};

use ropeline_core::{Holder, Ordinal};
use tokio::time::Instant;

/// A server that takes over has everything that is older: replicas lag by far less, or are not promoted.
const KEPT_FOR: Duration = Duration::from_secs(10);
/// At more joins than this the oldest are forgotten sooner.
const KEPT_MAX: usize = 1_000_000;

/// Places acknowledged lately, in batches.
#[derive(Debug, Default)]
pub(super) struct Recent {
    /// The highest ordinal that this node has answered a join with.
    pub(super) highest: Ordinal,
    batches: VecDeque<(Instant, Vec<Holder>)>,
    places: usize,
}

impl Recent {
    pub(super) fn add(&mut self, given: Vec<Holder>, now: Instant) {
        self.drop_old(now);
        if !given.is_empty() {
            self.places += given.len();
            self.batches.push_back((now, given));
        }
    }

    pub(super) fn all(&mut self, now: Instant) -> Vec<Holder> {
        self.drop_old(now);
        let batches = self.batches.iter();
        batches
            .flat_map(|(_, given)| given.iter().cloned())
            .collect()
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    fn drop_old(&mut self, now: Instant) {
        while let Some((at, given)) = self.batches.front()
            && (now.duration_since(*at) > KEPT_FOR || self.places > KEPT_MAX)
        {
            self.places -= given.len();
            self.batches.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use ropeline_core::{Ordinal, Visitor};

    use super::*;

    fn place(ordinal: u64) -> Holder {
        Holder {
            visitor: Visitor::parse(&format!("u:{ordinal}")).unwrap(),
            ordinal: Ordinal(ordinal),
        }
    }

    #[test]
    fn places_are_remembered_in_order_for_ten_seconds() {
        let start = Instant::now();
        let mut recent = Recent::default();
        recent.add(vec![place(1), place(2)], start);
        recent.add(vec![place(3)], start + Duration::from_secs(6));
        let ten = start + KEPT_FOR;
        assert_eq!(recent.all(ten), [place(1), place(2), place(3)]);
        assert_eq!(recent.all(ten + Duration::from_millis(1)), [place(3)]);
    }
}
