//! Our store on Redis without HTTP: as many joins as many callers get answered.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use ropeline_core::{Joined, Policy, RoomId};
use ropeline_store::{RedisStore, RedisUrl, Store, SystemClock};
use ropeline_testing::TestRedis;
use tokio::{runtime::Runtime, task::JoinSet};

use crate::{
    Result,
    growth::fill,
    ids::Ids,
    stats::{self, Run, Tally},
};

/// Callers at once. `redis-benchmark` has three times as many on the way.
pub(super) const CALLERS: usize = 1_024;

/// A room on a Redis of its own.
#[derive(Debug)]
pub(super) struct Joins {
    store: Arc<RedisStore>,
    room: RoomId,
    next: Arc<AtomicU64>,
    runtime: Runtime,
    _redis: TestRedis,
}

impl Joins {
    pub(super) fn new(redis: TestRedis) -> Result<Self> {
        let runtime = Runtime::new()?;
        let (room, url) = (RoomId::parse("main")?, redis.url().parse::<RedisUrl>()?);
        let store = runtime.block_on(async {
            let store = RedisStore::open(&url, Arc::new(SystemClock::start())).await?;
            store.create(&room, Arc::new(policy()), None).await?;
            Ok::<_, Box<dyn std::error::Error + Send + Sync>>(store)
        })?;
        Ok(Self {
            store: Arc::new(store),
            room,
            next: Arc::default(),
            runtime,
            _redis: redis,
        })
    }

    /// Lets so many join.
    pub(super) fn fill(&self, count: u64) -> Result<()> {
        let all = self.next.load(Relaxed) + count;
        self.join_until(move |number| number >= all)?;
        Ok(())
    }

    pub(super) fn run(&self, length: Duration) -> Result<Run> {
        let end = Instant::now() + length;
        Ok(self.join_until(move |_| Instant::now() >= end)?.into())
    }

    fn join_until(&self, enough: impl Fn(u64) -> bool + Copy + Send + 'static) -> Result<Tally> {
        self.runtime.block_on(async {
            let started = Instant::now();
            let mut callers = JoinSet::new();
            for _ in 0..CALLERS {
                let (store, room) = (Arc::clone(&self.store), self.room.clone());
                callers.spawn(join_all(store, room, Arc::clone(&self.next), enough));
            }
            let mut waits = Vec::new();
            while let Some(done) = callers.join_next().await {
                waits.append(&mut done??);
            }
            let elapsed = started.elapsed();
            Ok(Tally { waits, elapsed })
        })
    }
}

async fn join_all(
    store: Arc<RedisStore>,
    room: RoomId,
    next: Arc<AtomicU64>,
    enough: impl Fn(u64) -> bool,
) -> Result<Vec<u32>> {
    let (ids, mut waits) = (Ids::of("bench-joining"), Vec::new());
    loop {
        let number = next.fetch_add(1, Relaxed);
        if enough(number) {
            return Ok(waits);
        }
        let asked_at = Instant::now();
        match store.join(&room, fill::joiner(&ids, number)?).await? {
            (Joined::New(_), _) => waits.push(stats::micros(asked_at.elapsed())),
            (other, _) => return Err(format!("a join was answered {other:?}").into()),
        }
    }
}

/// As the room that is joined over HTTP.
fn policy() -> Policy {
    Policy {
        every: Duration::from_secs(10),
        presence_ttl: Duration::ZERO,
        ..fill::still()
    }
}
