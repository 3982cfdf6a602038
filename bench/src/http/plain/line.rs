//! The commands of the seeds, each beside the seed that it is from.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::ValueEnum;
use redis::{
    Client, RedisResult,
    aio::{ConnectionManager, ConnectionManagerConfig},
    cmd, pipe,
};
use serde::Deserialize;

/// Everybody who waits, by the time of their coming (000: `waiting`, 002, 003: `wait-token`, 004).
const WAITING: &str = "waiting";
/// Everybody inside, by the end of their pass (003: `active-token`).
const ACTIVE: &str = "active-token";
/// Before the user id: a key for each who is inside, which Redis lets expire (000, 002, 004).
const ACTIVE_PREFIX: &str = "active:";
/// The seeds say 300 s (000, 002, 003) and 10 min (004). Longer here, so that whoever is inside at the
/// start is inside at the end.
const PASS_SECONDS: u64 = 2 * 60 * 60;
/// As patient as the client of most seeds, Lettuce, is by default. The `redis` crate would give up after
/// half a second, which is sooner than `KEYS` is done on a busy machine.
const ANSWER_MAX: Duration = Duration::from_secs(60);
/// How often the scheduler runs (000, 002, 004).
const EVERY: Duration = Duration::from_secs(10);

/// How a join finds out how many are inside.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Counting {
    /// `ZCARD` of the active set that 003 keeps beside the keys: O(1).
    Card,
    /// `KEYS active:*`, `findQueueCnt(ACTIVE_KEY_PREFIX)` in 000 and "O(n)" in 004: every key there is.
    Keys,
}

/// How a tick moves people inside.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Manner {
    /// A round trip for each command, as the `forEach` of 002.
    OneByOne,
    /// All at once, as the `executePipelined` of 000.
    Pipelined,
}

/// Where a visitor is.
#[derive(Debug)]
pub(crate) enum Entered {
    Inside,
    Waits { rank: u64, seconds: u64 },
}

/// A line in Redis. Clones share the connection.
#[derive(Clone)]
pub(crate) struct Line {
    redis: ConnectionManager,
    entry_limit: u64,
    counting: Counting,
}

impl Line {
    pub(crate) async fn open(url: &str, entry_limit: u64, counting: Counting) -> RedisResult<Self> {
        let config = ConnectionManagerConfig::new().set_response_timeout(Some(ANSWER_MAX));
        let redis = ConnectionManager::new_with_config(Client::open(url)?, config).await?;
        Ok(Self {
            redis,
            entry_limit,
            counting,
        })
    }

    /// `checkToken` of 000 with the user id of 003 as the member: count, then enter or wait. Between the
    /// count and the entry others count too, so more than the limit may get in: nothing here is atomic.
    pub(crate) async fn join(&self, user: &str) -> RedisResult<Entered> {
        if self.count().await? < self.entry_limit {
            self.activate(user).await?;
            return Ok(Entered::Inside);
        }
        // `NX` is what 003 asks for with DUPLICATED_TOKEN, at no further round trip.
        let mut redis = self.redis.clone();
        let () = cmd("ZADD")
            .arg(WAITING)
            .arg("NX")
            .arg(now_ms())
            .arg(user)
            .query_async(&mut redis)
            .await?;
        let rank = self.rank(user).await?.unwrap_or(0);
        Ok(self.waits(rank))
    }

    async fn count(&self) -> RedisResult<u64> {
        let mut redis = self.redis.clone();
        match self.counting {
            Counting::Card => cmd("ZCARD").arg(ACTIVE).query_async(&mut redis).await,
            Counting::Keys => {
                let pattern = format!("{ACTIVE_PREFIX}*");
                let keys: Vec<String> = cmd("KEYS").arg(pattern).query_async(&mut redis).await?;
                Ok(u64::try_from(keys.len()).unwrap_or(u64::MAX))
            }
        }
    }

    /// `SETEX` of 003 and 004 (000 needs two, `SADD` and `EXPIRE`), and the entry of 003's active set.
    async fn activate(&self, user: &str) -> RedisResult<()> {
        let mut redis = self.redis.clone();
        let () = cmd("SETEX")
            .arg(active_key(user))
            .arg(PASS_SECONDS)
            .arg(user)
            .query_async(&mut redis)
            .await?;
        match self.counting {
            Counting::Keys => Ok(()),
            Counting::Card => {
                cmd("ZADD")
                    .arg(ACTIVE)
                    .arg(expiry_ms())
                    .arg(user)
                    .query_async(&mut redis)
                    .await
            }
        }
    }

    /// Active first, then waiting, else nothing: 004.
    pub(crate) async fn find(&self, user: &str) -> RedisResult<Option<Entered>> {
        if self.is_active(user).await? {
            return Ok(Some(Entered::Inside));
        }
        let rank = self.rank(user).await?;
        Ok(rank.map(|rank| self.waits(rank)))
    }

    /// `checkWaitingStatus` of 000, `verify` and `extendExpiration` of 002: a key that is there lives on.
    pub(crate) async fn renew(&self, user: &str) -> RedisResult<bool> {
        if !self.is_active(user).await? {
            return Ok(false);
        }
        let mut redis = self.redis.clone();
        cmd("EXPIRE")
            .arg(active_key(user))
            .arg(PASS_SECONDS)
            .query_async(&mut redis)
            .await
    }

    async fn is_active(&self, user: &str) -> RedisResult<bool> {
        let mut redis = self.redis.clone();
        let key = active_key(user);
        cmd("EXISTS").arg(key).query_async(&mut redis).await
    }

    async fn rank(&self, user: &str) -> RedisResult<Option<u64>> {
        let mut redis = self.redis.clone();
        cmd("ZRANK")
            .arg(WAITING)
            .arg(user)
            .query_async(&mut redis)
            .await
    }

    /// `ceil((rank - 1) / M) * N`: 000.
    fn waits(&self, rank: u64) -> Entered {
        let ticks = rank.saturating_sub(1).div_ceil(self.entry_limit.max(1));
        Entered::Waits {
            rank,
            seconds: ticks * EVERY.as_secs(),
        }
    }

    /// The scheduler of every seed, for as long as the server runs.
    pub(crate) async fn schedule(&self, batch: usize) -> RedisResult<()> {
        loop {
            tokio::time::sleep(EVERY).await;
            self.tick(batch, Manner::OneByOne).await?;
        }
    }

    /// What ran out ends (003), then the first in line go inside (`ZPOPMIN`: 000, 003).
    pub(crate) async fn tick(&self, count: usize, manner: Manner) -> RedisResult<usize> {
        let mut redis = self.redis.clone();
        let () = cmd("ZREMRANGEBYSCORE")
            .arg(ACTIVE)
            .arg(0)
            .arg(now_ms())
            .query_async(&mut redis)
            .await?;
        let popped: Vec<(String, f64)> = cmd("ZPOPMIN")
            .arg(WAITING)
            .arg(count)
            .query_async(&mut redis)
            .await?;
        match manner {
            Manner::OneByOne => {
                for (user, _) in &popped {
                    self.activate(user).await?;
                }
            }
            Manner::Pipelined => self.activate_all(&popped).await?,
        }
        Ok(popped.len())
    }

    async fn activate_all(&self, users: &[(String, f64)]) -> RedisResult<()> {
        let mut all = pipe();
        for (user, _) in users {
            let setex = all.cmd("SETEX").arg(active_key(user)).arg(PASS_SECONDS);
            setex.arg(user).ignore();
            let zadd = all.cmd("ZADD").arg(ACTIVE).arg(expiry_ms());
            zadd.arg(user).ignore();
        }
        all.query_async(&mut self.redis.clone()).await
    }
}

fn active_key(user: &str) -> String {
    format!("{ACTIVE_PREFIX}{user}")
}

fn expiry_ms() -> u64 {
    now_ms() + PASS_SECONDS * 1_000
}

/// The server's own clock is the score in every seed.
fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    })
}
