//! Idempotency keys that a room remembers for a while.

use std::{collections::HashMap, time::Duration};

use crate::JoinKey;

/// A key is remembered for one to two rounds of this length.
pub(crate) const KEY_ROUND: Duration = Duration::from_secs(10 * 60);

/// A round ends early at this size, so that a flood of keys cannot fill the memory.
const KEYS_MAX: usize = 2_000_000;

/// Keys of the current round and of the one before; older ones are forgotten as a whole.
#[derive(Debug, Clone, Default)]
pub(crate) struct KeyMemory {
    current: HashMap<u128, u64>,
    previous: HashMap<u128, u64>,
}

impl KeyMemory {
    /// Digest of the request that the key was first used for.
    pub(crate) fn body_of(&self, key: u128) -> Option<u64> {
        self.current
            .get(&key)
            .or_else(|| self.previous.get(&key))
            .copied()
    }

    pub(crate) fn remember(&mut self, key: JoinKey) {
        self.current.insert(key.key, key.body);
    }

    /// Takes back a key of the round before.
    pub(crate) fn remember_previous(&mut self, key: JoinKey) {
        self.previous.insert(key.key, key.body);
    }

    /// Every key with its round, where the current one has this number.
    pub(crate) fn iter(&self, round: u64) -> impl Iterator<Item = (u64, JoinKey)> + '_ {
        let of = |round: u64| {
            move |(key, body): (&u128, &u64)| {
                (
                    round,
                    JoinKey {
                        key: *key,
                        body: *body,
                    },
                )
            }
        };
        let current = self.current.iter().map(of(round));
        // Before the first round there is none, and nothing is remembered of it.
        let previous = self.previous.iter().map(of(round.saturating_sub(1)));
        current.chain(previous)
    }

    pub(crate) fn is_full(&self) -> bool {
        self.current.len() >= KEYS_MAX
    }

    /// Starts a new round.
    pub(crate) fn turn(&mut self) {
        self.previous = std::mem::take(&mut self.current);
    }
}
