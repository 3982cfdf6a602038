//! A sorted set in Redis, and joins that are written many at a time, by one script.
//!
//! It is no design of the seeds. It shows how much writing them together gains by itself: there is no token, no cap that
//! holds, no word of what was lost, and whoever joins twice is not told so.

use redis::{RedisError, RedisResult, Script, aio::ConnectionManager};
use tokio::sync::{mpsc, oneshot};

use super::{
    api::{Answer, Broken, Design, Entered},
    line,
};

const JOIN: &str = include_str!("together.lua");
/// Joins that one call writes at the most, as many as the product's.
const MOST: usize = 256;

type Joining = (String, oneshot::Sender<Result<u64, RedisError>>);

/// Clones share the way to whoever makes the calls.
#[derive(Clone)]
pub(super) struct Together {
    joins: mpsc::UnboundedSender<Joining>,
    entry_limit: u64,
}

impl Design for Together {
    async fn join(&self, user: &str) -> Answer<Entered> {
        let (answer, answered) = oneshot::channel();
        let joining = (user.to_owned(), answer);
        let sent = self.joins.send(joining);
        sent.map_err(|_| Broken::Stopped)?;
        let ordinal = answered.await.map_err(|_| Broken::Stopped)??;
        Ok(Entered::waits(ordinal - 1, self.entry_limit))
    }

    /// Only joins are asked for.
    async fn find(&self, _: &str) -> Answer<Option<Entered>> {
        Ok(None)
    }

    async fn admit(&self, _: usize) -> Answer<()> {
        Ok(())
    }
}

impl Together {
    pub(super) async fn open(url: &str, entry_limit: u64) -> RedisResult<Self> {
        let redis = line::connect(url).await?;
        let (joins, waiting) = mpsc::unbounded_channel();
        tokio::spawn(write(redis, waiting));
        Ok(Self { joins, entry_limit })
    }
}

/// Whatever has queued up while a call was on its way is the next.
async fn write(mut redis: ConnectionManager, mut waiting: mpsc::UnboundedReceiver<Joining>) {
    let script = Script::new(JOIN);
    let mut joining = Vec::new();
    while waiting.recv_many(&mut joining, MOST).await > 0 {
        let mut call = script.key("last");
        call.key("waiting");
        for (user, _) in &joining {
            call.arg(user);
        }
        let first: RedisResult<u64> = call.invoke_async(&mut redis).await;
        for (at, (_, answer)) in (0..).zip(joining.drain(..)) {
            answer.send(first.clone().map(|first| first + at)).ok();
        }
    }
}
