//! How often something may happen, for each of many keys.
//!
//! This is the generic cell rate algorithm: for each key one moment is kept, at which its credit is whole
//! again. Each turn moves it on by its share of a minute, and a turn that would move it more than a minute
//! ahead is refused. So a key has a minute's worth at once, and after that a steady rate.

use std::{
    collections::HashMap,
    hash::Hash,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use ropeline_core::Timestamp;

const MINUTE_NS: u64 = 60_000_000_000;
/// Looking for keys to forget costs about a millisecond, so it is not done for each newcomer of a flood.
const SWEEP_EVERY_NS: u64 = 1_000_000_000;

/// Not now, but after this long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct RetryAfter(pub Duration);

/// A key that takes turns, at so many times the rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Share<K> {
    pub(crate) key: K,
    pub(crate) times: u32,
}

/// So many turns a minute for each key, in bounded memory.
///
/// A key is forgotten only once its credit is whole again, when it is as good as new. When every remembered
/// key is in debt and there is no room, newcomers share the credit of [`Meter::shared`] keys.
#[derive(Debug)]
pub(crate) struct Meter<K> {
    /// 0 for any number.
    per_minute: AtomicU32,
    keys_max: usize,
    state: Mutex<State<K>>,
}

#[derive(Debug)]
struct State<K> {
    /// When the credit of each key is whole again.
    whole_at: HashMap<K, u64>,
    /// The same for all newcomers that found no room.
    shared_whole_at: u64,
    last_sweep: u64,
}

/// A rate with its burst, in nanoseconds.
#[derive(Debug, Clone, Copy)]
struct Rate {
    /// What one turn costs.
    turn: u64,
    /// The debt that a key may have.
    debt_max: u64,
}

impl<K: Hash + Eq + Copy> Meter<K> {
    /// So many turns a minute, 0 for any number, with room for so many keys.
    pub(crate) fn new(per_minute: u32, keys_max: usize) -> Self {
        Self {
            per_minute: AtomicU32::new(per_minute),
            keys_max,
            state: Mutex::new(State {
                whole_at: HashMap::new(),
                shared_whole_at: 0,
                last_sweep: 0,
            }),
        }
    }

    /// Allows so many turns a minute from now on, 0 for any number. What a key owes, it goes on owing.
    pub(crate) fn set(&self, per_minute: u32) {
        self.per_minute.store(per_minute, Ordering::Relaxed);
    }

    fn rate(&self) -> Option<Rate> {
        Rate::per_minute(self.per_minute.load(Ordering::Relaxed))
    }

    /// Takes a turn of every key, or of none if one of them has none left.
    pub(crate) fn take(&self, shares: &[Share<K>], now: Timestamp) -> Result<(), RetryAfter> {
        let Some(rate) = self.rate() else {
            return Ok(());
        };
        let now = nanoseconds(now);
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let unknown = shares
            .iter()
            .filter(|share| !state.whole_at.contains_key(&share.key))
            .count();
        let fits = unknown == 0 || state.has_room(unknown, self.keys_max, now);
        state.check(rate, shares, now)?;
        if !fits {
            let shared = rate.times(self.shared());
            shared.take(&mut state.shared_whole_at, now)?;
        }
        for share in shares {
            let rate = rate.times(share.times.into());
            if let Some(whole_at) = state.whole_at.get_mut(&share.key) {
                rate.take(whole_at, now)?;
            } else if fits {
                rate.take(state.whole_at.entry(share.key).or_insert(now), now)?;
            }
        }
        Ok(())
    }

    /// Whether a turn of every key could be taken, without taking it. Newcomers owe nothing themselves, whatever
    /// the others have done.
    pub(crate) fn check(&self, shares: &[Share<K>], now: Timestamp) -> Result<(), RetryAfter> {
        let Some(rate) = self.rate() else {
            return Ok(());
        };
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.check(rate, shares, nanoseconds(now))
    }

    /// Newcomers without room get the credit of a hundredth of the keys together: a crowd goes on, and who
    /// has filled the memory, and so has a hundred times as much already, gains little.
    fn shared(&self) -> u64 {
        (self.keys_max as u64 / 100).max(1)
    }

    #[cfg(test)]
    fn remembered(&self) -> usize {
        self.state.lock().unwrap().whole_at.len()
    }
}

impl<K: Hash + Eq + Copy> State<K> {
    /// Whether every key has a turn left; if not, how long it takes until all of them have.
    fn check(&self, rate: Rate, shares: &[Share<K>], now: u64) -> Result<(), RetryAfter> {
        let waits = shares.iter().filter_map(|share| {
            let whole_at = self.whole_at.get(&share.key).copied().unwrap_or_default();
            let rate = rate.times(share.times.into());
            rate.after_turn(whole_at, now).err()
        });
        waits.max().map_or(Ok(()), Err)
    }

    /// Whether there is room for so many newcomers, if need be by forgetting those that owe nothing.
    fn has_room(&mut self, newcomers: usize, keys_max: usize, now: u64) -> bool {
        let full = self.whole_at.len() + newcomers > keys_max;
        if full && now.abs_diff(self.last_sweep) >= SWEEP_EVERY_NS {
            self.last_sweep = now;
            self.whole_at.retain(|_, whole_at| *whole_at > now);
        }
        self.whole_at.len() + newcomers <= keys_max
    }
}

impl Rate {
    fn per_minute(turns: u32) -> Option<Self> {
        let turns = u64::from(turns);
        let turn = MINUTE_NS.div_ceil(turns.max(1));
        let debt_max = turn * turns;
        (turns > 0).then_some(Self { turn, debt_max })
    }

    /// So many times this rate.
    fn times(self, factor: u64) -> Self {
        let turn = (self.turn / factor).max(1);
        Self { turn, ..self }
    }

    fn take(self, whole_at: &mut u64, now: u64) -> Result<(), RetryAfter> {
        *whole_at = self.after_turn(*whole_at, now)?;
        Ok(())
    }

    /// When the credit will be whole after one more turn.
    fn after_turn(self, whole_at: u64, now: u64) -> Result<u64, RetryAfter> {
        // More than the largest debt is owed only where the clock was set back, and nobody's fault.
        let debt = whole_at.saturating_sub(now).min(self.debt_max);
        match (debt + self.turn).checked_sub(self.debt_max) {
            None | Some(0) => Ok(now + debt + self.turn),
            Some(excess) => Err(RetryAfter(Duration::from_nanos(excess))),
        }
    }
}

fn nanoseconds(now: Timestamp) -> u64 {
    // Enough for the next five centuries.
    now.0.saturating_mul(1_000_000).min(u64::MAX / 2)
}

#[cfg(test)]
mod tests;
