//! Redis and nodes that forget at the same time: what one of them remembers is enough.

use std::{path::Path, sync::Arc, time::Duration};

use ropeline_core::{Ending, Joined, Live, Ordinal, Policy, RoomId, Standing};
use ropeline_store::{RedisOptions, RedisStore, Store, SystemClock};
use ropeline_testing::{Persistence, TestRedis};

use super::{ask, join, node, room_for_one, until};
use crate::given::{holder, policy};

/// A node's record is at most this old.
const RECORDED_WITHIN: Duration = Duration::from_millis(1_500);

async fn node_in(redis: &TestRedis, directory: &Path) -> RedisStore {
    let options = RedisOptions {
        record: Some(directory.to_owned()),
        ..RedisOptions::default()
    };
    let url = redis.url().parse().unwrap();
    let clock = Arc::new(SystemClock::start());
    RedisStore::open_with(&url, clock, options).await.unwrap()
}

/// One inside, eight in line, and one who left.
async fn line_of_ten(store: &RedisStore) -> RoomId {
    let room = room_for_one(store).await;
    for n in 1..=10 {
        join(store, &room, &format!("user-{n}")).await.unwrap();
    }
    store.leave(&room, holder("user-7", 7)).await.unwrap();
    tokio::time::sleep(RECORDED_WITHIN).await;
    room
}

async fn everybody_is_back(store: &RedisStore, room: &RoomId) {
    let ended = ask(store, room, "user-7", 7).await;
    assert_eq!(ended, Standing::Ended(Ending::Gone));
    for n in (2..=10).filter(|n| *n != 7) {
        let standing = ask(store, room, &format!("user-{n}"), n).await;
        assert_eq!(standing, Standing::Live(Live::InLine), "user-{n}");
    }
}

#[tokio::test]
async fn a_node_that_was_restarted_with_an_empty_redis_restores_the_line() {
    let mut redis = TestRedis::with(Persistence::None, &[]);
    let directory = tempfile::tempdir().unwrap();
    let store = node_in(&redis, directory.path()).await;
    let room = line_of_ten(&store).await;
    let epoch = store.view(&room).unwrap().view.header.epoch;
    drop(store);
    redis.restart_empty();
    let store = node_in(&redis, directory.path()).await;
    room_for_one(&store).await;
    assert_eq!(store.view(&room).unwrap().view.header.epoch, epoch);
    everybody_is_back(&store, &room).await;
    let late = join(&store, &room, "late").await.unwrap();
    let Joined::New(ordinal) = late else {
        panic!("{late:?}");
    };
    assert!(
        ordinal > Ordinal(30),
        "{ordinal}: some may have been given since the record"
    );
}

#[tokio::test]
async fn a_node_that_was_restarted_waits_for_those_who_remember_more() {
    let mut redis = TestRedis::with(Persistence::None, &[]);
    let remembers = node(&redis).await;
    let room = line_of_ten(&remembers).await;
    redis.restart_empty();
    let newcomer = node(&redis).await;
    room_for_one(&newcomer).await;
    everybody_is_back(&newcomer, &room).await;
    everybody_is_back(&remembers, &room).await;
    let late = join(&newcomer, &room, "late").await;
    assert_eq!(
        late,
        Ok(Joined::New(Ordinal(31))),
        "some may have been given that nobody knows of"
    );
}

/// It cannot know how many were in line, so it gives no number that anybody can have.
#[tokio::test]
async fn a_node_that_has_forgotten_a_room_gives_no_ordinal_that_may_have_been_given() {
    let mut redis = TestRedis::with(Persistence::None, &[]);
    let directory = tempfile::tempdir().unwrap();
    drop(node_in(&redis, directory.path()).await);
    std::fs::write(directory.path().join("redis-rooms.json"), "damaged").unwrap();
    redis.restart_empty();
    let store = node_in(&redis, directory.path()).await;
    let room = room_for_one(&store).await;
    let first = join(&store, &room, "ann").await;
    assert_eq!(first, Ok(Joined::New(Ordinal((16 << 20) + 1))));
    let old = ask(&store, &room, "bob", 5).await;
    assert_eq!(
        old,
        Standing::Live(Live::AtDoor { before: 0 }),
        "a token from before is good"
    );
}

#[tokio::test]
async fn the_record_of_another_redis_is_worth_nothing() {
    let redis = TestRedis::start();
    let directory = tempfile::tempdir().unwrap();
    let store = node_in(&redis, directory.path()).await;
    line_of_ten(&store).await;
    drop(store);
    let other = TestRedis::start();
    let store = node_in(&other, directory.path()).await;
    let room = room_for_one(&store).await;
    assert_eq!(
        join(&store, &room, "ann").await,
        Ok(Joined::New(Ordinal(1)))
    );
}

/// Five seconds of life, and six without a Redis.
#[tokio::test]
async fn an_outage_uses_up_no_pass() {
    let mut redis = TestRedis::start();
    let store = node(&redis).await;
    let room = RoomId::main();
    let short = Policy {
        batch: None,
        active_max: Some(1),
        pass_ttl: Duration::from_secs(5),
        ..policy()
    };
    store.create(&room, Arc::new(short), None).await.unwrap();
    join(&store, &room, "ann").await.unwrap();
    join(&store, &room, "bob").await.unwrap();
    redis.kill();
    tokio::time::sleep(Duration::from_secs(6)).await;
    redis.start_again();
    until("the store is up", async || {
        store.health() == ropeline_store::Health::Up
    })
    .await;
    let inside = store.renew(&room, holder("ann", 1)).await.unwrap();
    assert!(
        matches!(inside, Standing::Live(Live::Inside(_))),
        "{inside:?}"
    );
    let waiting = ask(&store, &room, "bob", 2).await;
    assert_eq!(waiting, Standing::Live(Live::InLine));
}

/// The same, where Redis was not restarted but could not run.
#[tokio::test]
async fn a_redis_that_stood_still_uses_up_no_pass() {
    let redis = TestRedis::start();
    let store = node(&redis).await;
    let room = RoomId::main();
    let short = Policy {
        batch: None,
        active_max: Some(1),
        pass_ttl: Duration::from_secs(5),
        ..policy()
    };
    store.create(&room, Arc::new(short), None).await.unwrap();
    join(&store, &room, "ann").await.unwrap();
    redis.freeze();
    tokio::time::sleep(Duration::from_secs(7)).await;
    redis.thaw();
    until("the store is up", async || {
        store.health() == ropeline_store::Health::Up
    })
    .await;
    let inside = store.renew(&room, holder("ann", 1)).await.unwrap();
    assert!(
        matches!(inside, Standing::Live(Live::Inside(_))),
        "{inside:?}"
    );
}
