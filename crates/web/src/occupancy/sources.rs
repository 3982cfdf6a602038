//! Which connection is closed first to make room for another.
//!
//! Addresses are ranked by how many connections they hold, and connections of one rank by how long
//! they have been idle. Each request changes that time, so it is not kept up to date: a connection is
//! listed under a time since which it may have been idle, and moved when it comes first and was not.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
};

use super::activity::{Activity, Wait, Waiting};
use crate::client::Block;

/// Addresses with fewer connections are one rank: a browser opens six, and a household has several.
const SMALL: usize = 8;

/// Looks at connections of one rank before its longest idle one is no longer searched for.
const LOOKS_PER_RANK: u32 = 16;

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

/// A connection that waits for its peer.
#[derive(Debug)]
pub(super) struct Idle {
    pub(super) activity: Arc<Activity>,
    pub(super) waiting: Waiting,
    pub(super) block: Block,
}

/// What a look at the first connection of an address found.
enum Look {
    /// It is the longest idle one.
    Longest(Idle),
    /// It is idle, but others may have been so for longer; it is listed behind them now.
    Moved(Idle),
    Busy,
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

    /// The highest rank, and how many connections an address of it holds.
    pub(super) fn heaviest(&self) -> Option<(Rank, usize)> {
        let turn = self.turns.first()?;
        Some((turn.rank, self.held_by(turn.block)))
    }

    /// The connection to close first, of those that have waited for as long as `idle_min` says for the
    /// rank of their address and for what they wait. Each look at a connection takes one of `looks`.
    pub(super) fn first_idle(
        &mut self,
        now: u64,
        idle_min: impl Fn(Rank, Wait) -> u64,
        looks: &mut u32,
    ) -> Option<Idle> {
        let mut rank = Rank::HIGHEST;
        while *looks > 0 {
            rank = self.turns.range(Turn::first_of(rank)..).next()?.rank;
            // One rank does not take all, or requests that never end would save the others' idle ones.
            let mut looks_here = if rank == Rank::SMALL {
                *looks
            } else {
                looks.div_ceil(2).min(LOOKS_PER_RANK)
            };
            *looks -= looks_here;
            let idle = self.first_idle_of(rank, now, |wait| idle_min(rank, wait), &mut looks_here);
            *looks += looks_here;
            if idle.is_some() {
                return idle;
            }
            rank = rank.next();
        }
        None
    }

    /// The longest idle connection of one rank. If the looks do not suffice to find it, because
    /// connections have had requests since they were listed: the longest idle of those looked at.
    fn first_idle_of(
        &mut self,
        rank: Rank,
        now: u64,
        idle_min: impl Fn(Wait) -> u64,
        looks: &mut u32,
    ) -> Option<Idle> {
        let has_waited = |since: u64, wait| since.saturating_add(idle_min(wait)) <= now;
        let mut longest: Option<Idle> = None;
        while *looks > 0 {
            let turn = self.turns.range(Turn::first_of(rank)..).next();
            let turn =
                turn.filter(|turn| turn.rank == rank && has_waited(turn.since, Wait::Request));
            let Some(block) = turn.map(|turn| turn.block) else {
                break;
            };
            *looks -= 1;
            match self.look_at_first(block, now) {
                Look::Longest(idle) if has_waited(idle.waiting.since, idle.waiting.wait) => {
                    return Some(idle);
                }
                // It has a grace, and its turn comes again.
                Look::Longest(idle) => self.list_first(idle.block, now + 1),
                Look::Moved(idle) if has_waited(idle.waiting.since, idle.waiting.wait) => {
                    let since = |idle: &Idle| idle.waiting.since;
                    if longest
                        .as_ref()
                        .is_none_or(|longest| since(&idle) < since(longest))
                    {
                        longest = Some(idle);
                    }
                }
                Look::Moved(_) | Look::Busy => {}
            }
        }
        longest
    }

    /// The longest idle connection of an address. Each look at a connection takes one of `looks`.
    pub(super) fn first_of(&mut self, block: Block, now: u64, looks: &mut u32) -> Option<Idle> {
        while *looks > 0 {
            *looks -= 1;
            if let Look::Longest(idle) = self.look_at_first(block, now) {
                return Some(idle);
            }
        }
        None
    }

    /// Looks at the first connection of an address, and moves it if it was not idle since it was listed.
    fn look_at_first(&mut self, block: Block, now: u64) -> Look {
        let first = self.by_block.get(&block).and_then(Source::first);
        let Some((listed, activity)) = first else {
            return Look::Busy;
        };
        let activity = Arc::clone(activity);
        let Some(waiting) = activity.waiting() else {
            // One that is busy or closing is not idle before the next moment.
            self.list_first(block, now + 1);
            return Look::Busy;
        };
        let idle = Idle {
            activity,
            waiting,
            block,
        };
        if waiting.since <= listed {
            return Look::Longest(idle);
        }
        self.list_first(block, waiting.since);
        Look::Moved(idle)
    }

    /// Lists the first connection of an address under another time.
    fn list_first(&mut self, block: Block, since: u64) {
        let Some(source) = self.by_block.get_mut(&block) else {
            return;
        };
        if let Some(((_, number), activity)) = source.connections.pop_first() {
            activity.set_listed(since);
            source.connections.insert((since, number), activity);
            rank(&mut self.turns, source);
        }
    }
}

impl Source {
    /// The connection that is listed first, and since when.
    fn first(&self) -> Option<(u64, &Arc<Activity>)> {
        let first = self.connections.first_key_value();
        first.map(|((since, _), activity)| (*since, activity))
    }
}

impl Turn {
    /// No turn of this rank comes earlier.
    fn first_of(rank: Rank) -> Self {
        Self {
            rank,
            since: 0,
            block: Block::V4(0),
        }
    }
}

/// Puts an address where its connections belong.
fn rank(turns: &mut BTreeSet<Turn>, source: &mut Source) {
    let turn = Turn {
        rank: Rank::of(source.connections.len()),
        since: source.first().map_or(0, |(since, _)| since),
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
            while let Some(idle) = self.sources.first_idle(now, |_, _| 0, &mut looks) {
                let Block::V4(host) = idle.block else {
                    unreachable!("only IPv4 here");
                };
                closed.push((host, idle.waiting.since));
                assert!(idle.activity.close(idle.waiting));
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
        first.waits_since(crowd.at(500), Wait::Request);
        second.is_busy();
        assert_eq!(crowd.closed(1_000), [(1, 3), (1, 500)]);
        second.waits_since(crowd.at(700), Wait::Request);
        assert_eq!(crowd.closed(2_000), [(1, 700)]);
    }

    #[tokio::test]
    async fn nobody_is_closed_who_was_not_idle_for_long_enough() {
        let mut crowd = Crowd::new();
        for since in 0..8 {
            crowd.joins(1, 100 + since);
        }
        crowd.joins(2, 0);
        let patient = |rank, _| if rank == Rank::SMALL { 500 } else { 1_000 };
        let mut first = |now| {
            let idle = crowd.sources.first_idle(now, patient, &mut 100);
            idle.map(|idle| (idle.block, idle.waiting.since))
        };
        assert_eq!(first(499), None);
        assert_eq!(first(500), Some((Block::V4(2), 0)));
        assert_eq!(first(1_099), Some((Block::V4(2), 0)));
        assert_eq!(first(1_100), Some((Block::V4(1), 100)));
    }

    #[tokio::test]
    async fn one_of_many_connections_is_closed_though_all_had_a_request_since_they_were_listed() {
        let mut crowd = Crowd::new();
        crowd.joins(1, 0);
        for _ in 0..1_000 {
            let (_, activity) = crowd.joins(2, 0);
            activity.waits_since(crowd.at(900), Wait::Body);
        }
        let mut looks = 64;
        let idle = crowd.sources.first_idle(1_000, |_, _| 0, &mut looks);
        assert_eq!(idle.unwrap().block, Block::V4(2));
        assert!(looks > 0);
    }

    #[tokio::test]
    async fn requests_that_do_not_end_do_not_save_the_idle_connections_of_others() {
        let mut crowd = Crowd::new();
        crowd.joins(1, 0);
        for host in 2..4 {
            for _ in 0..100 {
                crowd.joins(host, 0).1.is_busy();
            }
        }
        let mut looks = 64;
        let idle = crowd.sources.first_idle(1_000, |_, _| 0, &mut looks);
        assert_eq!(idle.unwrap().block, Block::V4(1));
    }

    #[tokio::test]
    async fn a_grace_holds_back_one_connection_and_no_other_of_its_address() {
        let mut crowd = Crowd::new();
        let (_, in_body) = crowd.joins(1, 0);
        in_body.waits_since(crowd.at(0), Wait::Body);
        let (_, idle) = crowd.joins(1, 100);
        let idle_min = |_, wait| if wait == Wait::Body { 2_000 } else { 1_000 };
        let mut first = |now| {
            let idle = crowd.sources.first_idle(now, idle_min, &mut 64);
            idle.map(|idle| idle.waiting.since)
        };
        assert_eq!(first(1_000), None);
        assert_eq!(first(1_100), Some(100));
        idle.is_busy();
        assert_eq!(first(1_999), None);
        assert_eq!(first(3_000), Some(0));
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
        let idle = crowd.sources.first_idle(1_000, |_, _| 0, &mut looks);
        assert!(idle.is_none());
        assert_eq!(looks, 0);
    }
}
