//! Which connection is closed first to make room for another.
//!
//! Addresses are ranked by how many connections they hold, and connections of one rank by how long
//! they have been idle. Each request changes that time, so it is not kept up to date: a connection is
//! listed under a time since which it may have been idle, and moved when it comes first and was not.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
};

use super::activity::Activity;
use crate::client::Block;

/// Addresses with fewer connections are one rank: a browser opens six, and a household has several.
const SMALL: usize = 8;

/// By how many connections an address holds; the lowest holds the most. Twice as many are another rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank(u32);

impl Rank {
    const HIGHEST: Self = Self(0);
    pub(super) const SMALL: Self = Self(usize::BITS - (SMALL / 2).ilog2());

    fn of(connections: usize) -> Self {
        Self(usize::BITS - connections.max(SMALL / 2).ilog2())
    }

    fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

/// The connections of all addresses, in the order in which they are closed.
#[derive(Debug, Default)]
pub(super) struct Sources {
    by_block: HashMap<Block, Source>,
    turns: BTreeSet<Turn>,
}

#[derive(Debug)]
struct Source {
    turn: Turn,
    /// By the time since which each may have been idle, and its number.
    connections: BTreeMap<(u64, u64), Arc<Activity>>,
}

/// When an address comes to lose a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Turn {
    rank: Rank,
    /// No connection of the address has been idle for longer.
    since: u64,
    block: Block,
}

/// A connection that is idle.
#[derive(Debug)]
pub(super) struct Idle {
    pub(super) activity: Arc<Activity>,
    pub(super) since: u64,
    pub(super) block: Block,
}

impl Sources {
    pub(super) fn insert(&mut self, block: Block, number: u64, activity: Arc<Activity>) {
        let key = (activity.listed(), number);
        let source = self.by_block.entry(block).or_insert_with(|| Source {
            turn: Turn {
                rank: Rank::SMALL,
                since: key.0,
                block,
            },
            connections: BTreeMap::new(),
        });
        source.connections.insert(key, activity);
        rank(&mut self.turns, source);
    }

    pub(super) fn remove(&mut self, block: Block, number: u64, activity: &Activity) {
        let Some(source) = self.by_block.get_mut(&block) else {
            return;
        };
        source.connections.remove(&(activity.listed(), number));
        if source.connections.is_empty() {
            self.turns.remove(&source.turn);
            self.by_block.remove(&block);
        } else {
            rank(&mut self.turns, source);
        }
    }

    /// How many connections an address holds.
    pub(super) fn held_by(&self, block: Block) -> usize {
        let source = self.by_block.get(&block);
        source.map_or(0, |source| source.connections.len())
    }

    /// The connection to close first, of those that have been idle for as long as `idle_min` says for
    /// the rank of their address. Each look at a connection takes one of `looks`.
    pub(super) fn first_idle(
        &mut self,
        now: u64,
        idle_min: impl Fn(Rank) -> u64,
        looks: &mut u32,
    ) -> Option<Idle> {
        let mut rank = Rank::HIGHEST;
        while *looks > 0 {
            *looks -= 1;
            let from = Turn {
                rank,
                since: 0,
                block: Block::V4(0),
            };
            let turn = *self.turns.range(from..).next()?;
            if turn.since.saturating_add(idle_min(turn.rank)) > now {
                rank = turn.rank.next();
                continue;
            }
            let idle = self.first_of(turn.block, now);
            if idle.is_some() {
                return idle;
            }
        }
        None
    }

    /// The longest idle connection of an address, if it is already first.
    pub(super) fn first_of(&mut self, block: Block, now: u64) -> Option<Idle> {
        let source = self.by_block.get_mut(&block)?;
        let first = source.connections.first_entry()?;
        let (listed, number) = *first.key();
        match first.get().idle_since() {
            Some(since) if since <= listed => Some(Idle {
                activity: Arc::clone(first.get()),
                since,
                block,
            }),
            later => {
                // One that is busy or closing is not idle before the next moment.
                let since = later.unwrap_or(now + 1);
                let activity = first.remove();
                activity.set_listed(since);
                source.connections.insert((since, number), activity);
                rank(&mut self.turns, source);
                None
            }
        }
    }
}

/// Puts an address where its connections belong.
fn rank(turns: &mut BTreeSet<Turn>, source: &mut Source) {
    let first = source.connections.first_key_value();
    let turn = Turn {
        rank: Rank::of(source.connections.len()),
        since: first.map_or(0, |((since, _), _)| *since),
        ..source.turn
    };
    turns.remove(&source.turn);
    turns.insert(turn);
    source.turn = turn;
}

#[cfg(test)]
mod tests {
    use tokio::time::{Duration, Instant};

    use super::*;

    struct Crowd {
        sources: Sources,
        start: Instant,
        last: u64,
    }

    impl Crowd {
        fn new() -> Self {
            Self {
                sources: Sources::default(),
                start: Instant::now(),
                last: 0,
            }
        }

        /// A connection that has been idle since then.
        fn joins(&mut self, host: u32, since: u64) -> (u64, Arc<Activity>) {
            self.last += 1;
            let activity = Arc::new(Activity::begin(self.start, since));
            let block = Block::V4(host);
            self.sources.insert(block, self.last, Arc::clone(&activity));
            (self.last, activity)
        }

        fn at(&self, ms: u64) -> Instant {
            self.start + Duration::from_millis(ms)
        }

        /// Who is closed, with whatever is idle at all, until nobody is left.
        fn closed(&mut self, now: u64) -> Vec<(u32, u64)> {
            let mut closed = Vec::new();
            let mut looks = 1_000;
            while let Some(idle) = self.sources.first_idle(now, |_| 0, &mut looks) {
                let Block::V4(host) = idle.block else {
                    unreachable!("only IPv4 here");
                };
                closed.push((host, idle.since));
                assert!(idle.activity.close(idle.since));
            }
            closed
        }
    }

    #[tokio::test]
    async fn addresses_with_the_most_connections_lose_the_longest_idle_first() {
        let mut crowd = Crowd::new();
        crowd.joins(1, 0);
        for since in [30, 10, 20, 50, 40, 60, 70, 80] {
            crowd.joins(2, since);
        }
        let closed = crowd.closed(1_000);
        assert_eq!(closed[..3], [(2, 10), (2, 20), (2, 30)]);
        assert_eq!(closed.last(), Some(&(1, 0)));
        assert_eq!(closed.len(), 9);
    }

    #[tokio::test]
    async fn among_addresses_with_few_connections_the_longest_idle_is_closed() {
        let mut crowd = Crowd::new();
        for since in 100..106 {
            crowd.joins(1, since);
        }
        crowd.joins(2, 99);
        crowd.joins(3, 103);
        let closed = crowd.closed(1_000);
        assert_eq!(closed[..3], [(2, 99), (1, 100), (1, 101)]);
    }

    #[tokio::test]
    async fn a_connection_with_a_request_since_then_is_moved_and_a_busy_one_is_never_chosen() {
        let mut crowd = Crowd::new();
        let (_, first) = crowd.joins(1, 1);
        let (_, second) = crowd.joins(1, 2);
        crowd.joins(1, 3);
        first.waits_since(crowd.at(500));
        second.is_busy();
        assert_eq!(crowd.closed(1_000), [(1, 3), (1, 500)]);
        second.waits_since(crowd.at(700));
        assert_eq!(crowd.closed(2_000), [(1, 700)]);
    }

    #[tokio::test]
    async fn nobody_is_closed_who_was_not_idle_for_long_enough() {
        let mut crowd = Crowd::new();
        for since in 0..8 {
            crowd.joins(1, 100 + since);
        }
        crowd.joins(2, 0);
        let patient = |rank| if rank == Rank::SMALL { 500 } else { 1_000 };
        let mut first = |now| {
            let idle = crowd.sources.first_idle(now, patient, &mut 100);
            idle.map(|idle| (idle.block, idle.since))
        };
        assert_eq!(first(499), None);
        assert_eq!(first(500), Some((Block::V4(2), 0)));
        assert_eq!(first(1_099), Some((Block::V4(2), 0)));
        assert_eq!(first(1_100), Some((Block::V4(1), 100)));
    }

    #[tokio::test]
    async fn what_has_ended_is_forgotten() {
        let mut crowd = Crowd::new();
        let joined: Vec<_> = (0..20).map(|since| crowd.joins(since % 3, 5)).collect();
        assert_eq!(crowd.closed(1_000).len(), 20);
        for (at, (number, activity)) in (0..20).zip(&joined) {
            crowd.sources.remove(Block::V4(at % 3), *number, activity);
        }
        assert_eq!(crowd.sources.held_by(Block::V4(0)), 0);
        assert!(crowd.sources.by_block.is_empty());
        assert!(crowd.sources.turns.is_empty());
    }

    #[tokio::test]
    async fn the_work_for_one_newcomer_is_bounded() {
        let mut crowd = Crowd::new();
        for host in 0..10_000 {
            crowd.joins(host, 0).1.is_busy();
        }
        let mut looks = 64;
        let idle = crowd.sources.first_idle(1_000, |_| 0, &mut looks);
        assert!(idle.is_none());
        assert_eq!(looks, 0);
    }
}
