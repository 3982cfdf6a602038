//! Passes that this node has seen, for answers while the store is away.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use ropeline_core::{Claims, Ordinal, Pass, RoomId, Timestamp};

/// Requests of different visitors seldom wait for each other.
const SHARDS: usize = 16;
/// With all shards, about as many as are ever inside; 20 MB at most.
const SHARD_MAX: usize = 16_384;

/// The last pass that this node saw of each visitor who was inside.
#[derive(Debug)]
pub(crate) struct LastPasses {
    /// By ordinal, of which there are no gaps.
    shards: [Mutex<Shard>; SHARDS],
    shard_max: usize,
}

#[derive(Debug, Default)]
struct Shard {
    passes: HashMap<Key, Pass>,
    /// How many were seen since those that had run out were dropped.
    seen: usize,
}

/// The room, when it was made, and the place.
type Key = (RoomId, Timestamp, Ordinal);

impl LastPasses {
    pub(crate) fn new() -> Self {
        Self::of_shards(SHARD_MAX)
    }

    fn of_shards(shard_max: usize) -> Self {
        Self {
            shards: std::array::from_fn(|_| Mutex::default()),
            shard_max,
        }
    }

    /// Remembers a pass that the store has told of at this room time.
    pub(crate) fn saw(&self, claims: &Claims, pass: Pass, room_now: Timestamp) {
        let key = key(claims);
        let mut shard = self.shard(&key);
        shard.drop_old(room_now);
        if shard.passes.len() < self.shard_max || shard.passes.contains_key(&key) {
            shard.passes.insert(key, pass);
        }
    }

    /// The pass of a place as it was last seen, if it has not run out since.
    pub(crate) fn alive(&self, claims: &Claims, room_now: Timestamp) -> Option<Pass> {
        let key = key(claims);
        let pass = self.shard(&key).passes.get(&key).copied();
        pass.filter(|pass| pass.expires_at > room_now)
    }

    fn shard(&self, key: &Key) -> MutexGuard<'_, Shard> {
        let at = usize::try_from(key.2.0 % SHARDS as u64).expect("there are few shards");
        self.shards[at]
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shard {
    /// Looks for those that have run out as often as there are new ones, so that neither memory nor time is
    /// spent on them.
    fn drop_old(&mut self, room_now: Timestamp) {
        self.seen += 1;
        if self.seen > self.passes.len() {
            self.seen = 0;
            self.passes.retain(|_, pass| pass.expires_at > room_now);
        }
    }
}

fn key(claims: &Claims) -> Key {
    (claims.aud.clone(), claims.epoch, claims.ord)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use ropeline_core::{FORMAT, Visitor};

    use super::*;

    const NOW: Timestamp = Timestamp(1_700_000_000_000);

    fn claims(epoch: Timestamp, ordinal: u64) -> Claims {
        Claims {
            iss: "".into(),
            aud: RoomId::main(),
            epoch,
            sub: Visitor::anonymous(1),
            ord: Ordinal(ordinal),
            lane: "".into(),
            vfd: false,
            ver: FORMAT,
            iat: 0,
            exp: 0,
        }
    }

    fn pass(seconds: u64) -> Pass {
        Pass {
            since: NOW,
            expires_at: NOW + Duration::from_secs(seconds),
        }
    }

    #[test]
    fn a_pass_is_remembered_until_it_runs_out() {
        let passes = LastPasses::new();
        let ann = claims(NOW, 1);
        passes.saw(&ann, pass(10), NOW);
        passes.saw(&ann, pass(60), NOW);
        let last = NOW + Duration::from_millis(59_999);
        assert_eq!(passes.alive(&ann, last), Some(pass(60)));
        let over = NOW + Duration::from_secs(60);
        assert_eq!(passes.alive(&ann, over), None);
        assert_eq!(passes.alive(&claims(NOW, 2), NOW), None, "another place");
        assert_eq!(passes.alive(&claims(last, 1), NOW), None, "another room");
    }

    #[test]
    fn those_that_ran_out_take_no_memory_and_a_crowd_takes_only_so_much() {
        let passes = LastPasses::of_shards(64);
        let count = || {
            let shards = passes.shards.iter();
            let counts = shards.map(|shard| shard.lock().unwrap().passes.len());
            counts.sum::<usize>()
        };
        for ordinal in 1..=2_000 {
            passes.saw(&claims(NOW, ordinal), pass(60), NOW);
        }
        assert_eq!(count(), SHARDS * 64);
        let later = NOW + Duration::from_secs(100);
        for ordinal in 0..4_000 {
            passes.saw(&claims(NOW, 10_000 + ordinal % 100), pass(160), later);
        }
        assert_eq!(count(), 100);
    }
}
