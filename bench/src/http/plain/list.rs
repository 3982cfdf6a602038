//! A list in Redis that is read whole to find a place in it: seed 001.

use redis::{RedisResult, aio::ConnectionManager, cmd};

use super::{
    api::{Answer, Design, Entered},
    line::connect,
};

const WAITING: &str = "waiting-queue";
const VALID: &str = "valid-tokens";

/// Who waits is a list, who is inside a set. Clones share the connection.
#[derive(Clone)]
pub(super) struct List {
    redis: ConnectionManager,
    entry_limit: u64,
}

impl Design for List {
    /// One who has a place keeps it; that takes a look at the whole list, as status does.
    async fn join(&self, user: &str) -> Answer<Entered> {
        if let Some(entered) = self.find(user).await? {
            return Ok(entered);
        }
        let mut redis = self.redis.clone();
        if self.count().await? < self.entry_limit {
            let () = cmd("SADD")
                .arg(VALID)
                .arg(user)
                .query_async(&mut redis)
                .await?;
            return Ok(Entered::Inside);
        }
        // The seed's `LPUSH` with its `LPOP` would let in who came last. Its answer is the length of the list, so
        // the list need not be read again.
        let rank = cmd("RPUSH")
            .arg(WAITING)
            .arg(user)
            .query_async(&mut redis)
            .await?;
        Ok(Entered::waits(rank, self.entry_limit))
    }

    /// The set first, then `LRANGE` and `indexOf`.
    async fn find(&self, user: &str) -> Answer<Option<Entered>> {
        let mut redis = self.redis.clone();
        let valid = cmd("SISMEMBER")
            .arg(VALID)
            .arg(user)
            .query_async(&mut redis)
            .await?;
        if valid {
            return Ok(Some(Entered::Inside));
        }
        let all = cmd("LRANGE")
            .arg(WAITING)
            .arg(0)
            .arg(-1)
            .query_async(&mut redis)
            .await;
        let all: Vec<String> = all?;
        let index = all.iter().position(|waiting| waiting == user);
        let rank = index.map(|index| u64::try_from(index + 1).unwrap_or(u64::MAX));
        Ok(rank.map(|rank| Entered::waits(rank, self.entry_limit)))
    }

    async fn admit(&self, count: usize) -> Answer<()> {
        let mut redis = self.redis.clone();
        let popped = cmd("LPOP")
            .arg(WAITING)
            .arg(count)
            .query_async(&mut redis)
            .await;
        let popped: Option<Vec<String>> = popped?;
        for user in popped.unwrap_or_default() {
            let () = cmd("SADD")
                .arg(VALID)
                .arg(user)
                .query_async(&mut redis)
                .await?;
        }
        Ok(())
    }
}

impl List {
    pub(super) async fn open(url: &str, entry_limit: u64) -> RedisResult<Self> {
        Ok(Self {
            redis: connect(url).await?,
            entry_limit,
        })
    }

    /// "`sscan` rather than `smembers` or `keys`".
    async fn count(&self) -> RedisResult<u64> {
        let mut redis = self.redis.clone();
        let (mut cursor, mut found) = (0_u64, 0);
        loop {
            let mut sscan = cmd("SSCAN");
            let sscan = sscan.arg(VALID).arg(cursor).arg("COUNT").arg(1_000);
            let (next, some): (u64, Vec<String>) = sscan.query_async(&mut redis).await?;
            found += u64::try_from(some.len()).unwrap_or(u64::MAX);
            if next == 0 {
                return Ok(found);
            }
            cursor = next;
        }
    }
}
