//! What only a store on Redis can get wrong, on real servers.

mod durable;
mod forgetful;
mod functions;
mod lanes;
mod leftovers;
mod members;
mod news;
mod nodes;
mod proxy;
mod remembering;
mod several;
mod trust;
mod two_releases;

use std::{sync::Arc, time::Duration};

use ropeline_core::{Holder, Joined, Joiner, Ordinal, Policy, RoomId, Standing};
use ropeline_store::{RedisStore, RedisUrl, Store, StoreError, SystemClock};
use ropeline_testing::TestRedis;

use crate::given::{policy, visitor};

/// What does not happen within this never will.
const SOON: Duration = Duration::from_secs(15);

async fn node(redis: &TestRedis) -> RedisStore {
    node_at(&redis.url()).await
}

async fn node_at(url: &str) -> RedisStore {
    let url: RedisUrl = url.parse().unwrap();
    let clock = Arc::new(SystemClock::start());
    RedisStore::open(&url, clock).await.unwrap()
}

/// A room that lets one in at a time, and nobody by itself after that.
async fn room_for_one(store: &RedisStore) -> RoomId {
    let room = RoomId::main();
    let policy = Policy {
        batch: None,
        active_max: Some(1),
        pass_ttl: Duration::from_secs(600),
        ..policy()
    };
    store.create(&room, Arc::new(policy), None).await.unwrap();
    room
}

async fn join(store: &RedisStore, room: &RoomId, user: &str) -> Result<Joined, StoreError> {
    let joiner = Joiner {
        visitor: visitor(user),
        key: None,
    };
    Ok(store.join(room, joiner).await?.0)
}

async fn ask(store: &RedisStore, room: &RoomId, user: &str, ordinal: u64) -> Standing {
    let holder = Holder {
        visitor: visitor(user),
        ordinal: Ordinal(ordinal),
    };
    store.ask(room, holder).await.unwrap()
}

/// Waits until something holds.
async fn until(what: &str, holds: impl AsyncFn() -> bool) {
    let waiting = async {
        while !holds().await {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let waited = tokio::time::timeout(SOON, waiting).await;
    assert!(waited.is_ok(), "{what} did not happen in time");
}
