//! A sorted set in Redis: the commands of the seeds, each beside the seed that it is from.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use redis::{
    Client, RedisResult,
    aio::{ConnectionManager, ConnectionManagerConfig},
    cmd, pipe,
};
use serde::Deserialize;

use super::api::{Answer, Design, Entered};

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

/// A connection as most seeds have it: one for all requests, which comes back.
pub(super) async fn connect(url: &str) -> RedisResult<ConnectionManager> {
    let config = ConnectionManagerConfig::new().set_response_timeout(Some(ANSWER_MAX));
    ConnectionManager::new_with_config(Client::open(url)?, config).await
}

/// How a join finds out how many are inside.
#[derive(Debug, Clone, Copy)]
pub(super) enum Counting {
    /// `ZCARD` of the active set that 003 keeps beside the keys: O(1).
    Card,
    /// `KEYS active:*`, `findQueueCnt(ACTIVE_KEY_PREFIX)` in 000 and "O(n)" in 004: every key there is.
    Keys,
}

/// How a tick moves people inside.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Manner {
    /// A round trip for each command, as the `forEach` of 002.
    OneByOne,
    /// All at once, as the `executePipelined` of 000, with the key and the counter of 003.
    Pipelined,
    /// The very commands of 000: `SADD` and `EXPIRE` of a set for each, all at once. Nothing counts those inside.
    Sets,
}

/// A line in Redis. Clones share the connection.
#[derive(Clone)]
pub(super) struct Line {
    redis: ConnectionManager,
    entry_limit: u64,
    counting: Counting,
}

impl Design for Line {
    /// `checkToken` of 000 with the user id of 003 as the member: count, then enter or wait. Between the
    /// count and the entry others count too, so more than the limit may get in: nothing here is atomic.
    async fn join(&self, user: &str) -> Answer<Entered> {
        if self.count().await? < self.entry_limit {
            self.activate(user).await?;
            return Ok(Entered::Inside);
        }
        self.line_up(user).await?;
        let rank = self.rank(user).await?.unwrap_or(0);
        Ok(Entered::waits(rank, self.entry_limit))
    }

    /// Active first, then waiting, else nothing: 004.
    async fn find(&self, user: &str) -> Answer<Option<Entered>> {
        if self.is_active(user).await? {
            return Ok(Some(Entered::Inside));
        }
        let rank = self.rank(user).await?;
        Ok(rank.map(|rank| Entered::waits(rank, self.entry_limit)))
    }

    async fn admit(&self, count: usize) -> Answer<()> {
        self.tick(count, Manner::OneByOne).await?;
        Ok(())
    }
}

impl Line {
    pub(super) async fn open(url: &str, entry_limit: u64, counting: Counting) -> RedisResult<Self> {
        Ok(Self {
            redis: connect(url).await?,
            entry_limit,
            counting,
        })
    }

    /// `NX` is what 003 asks for with `DUPLICATED_TOKEN`, at no further round trip.
    async fn line_up(&self, user: &str) -> RedisResult<()> {
        let mut redis = self.redis.clone();
        let mut zadd = cmd("ZADD");
        let zadd = zadd.arg(WAITING).arg("NX").arg(now_ms()).arg(user);
        zadd.query_async(&mut redis).await
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

    /// `checkWaitingStatus` of 000, `verify` and `extendExpiration` of 002: a key that is there lives on.
    pub(super) async fn renew(&self, user: &str) -> RedisResult<bool> {
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

    /// What ran out ends (003), then the first in line go inside (`ZPOPMIN`: 000, 003).
    pub(super) async fn tick(&self, count: usize, manner: Manner) -> RedisResult<usize> {
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
            Manner::Sets => self.activate_as_sets(&popped).await?,
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

    async fn activate_as_sets(&self, users: &[(String, f64)]) -> RedisResult<()> {
        let mut all = pipe();
        for (user, _) in users {
            let key = active_key(user);
            all.cmd("SADD").arg(&key).arg(user).ignore();
            all.cmd("EXPIRE").arg(&key).arg(PASS_SECONDS).ignore();
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
