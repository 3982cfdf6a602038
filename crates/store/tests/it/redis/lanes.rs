//! Two batches of joins on their way from a node at the same time.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use futures_util::future::{FutureExt, join_all};
use ropeline_core::{Joined, Ordinal, RoomId};
use ropeline_store::RedisStore;
use ropeline_testing::{Persistence, TestRedis};
use tokio::task::JoinSet;

use super::{join, node, node_at, proxy::Proxy, room_for_one, until};

/// More than must wait for a second call to be made.
const CROWD: u64 = 100;

fn places(redis: &TestRedis) -> u64 {
    redis.cli(&["ZCARD", "rl:{main}:places"]).parse().unwrap()
}

#[tokio::test]
async fn a_batch_whose_answer_was_lost_is_new_though_a_later_one_was_answered_meanwhile() {
    let redis = TestRedis::start();
    let proxy = Proxy::to(redis.port()).await;
    let store = node_at(&proxy.url()).await;
    let room = room_for_one(&store).await;
    join(&store, &room, "first").await.unwrap();
    proxy.swallow_answers();
    let older = join(&store, &room, "ann");
    tokio::pin!(older);
    let reaches_redis = until("the older batch reaches Redis", async || {
        places(&redis) == 2
    });
    tokio::select! {
        answered = &mut older => panic!("its answer was not lost: {answered:?}"),
        () = reaches_redis => proxy.let_through(),
    }
    let users: Vec<_> = (3..=CROWD).map(|n| format!("user-{n}")).collect();
    let crowd = join_all(users.iter().map(|user| join(&store, &room, user))).await;
    assert!(older.as_mut().now_or_never().is_none(), "both on their way");
    let given: BTreeSet<_> = crowd.into_iter().map(new).collect();
    assert_eq!(given, (3..=CROWD).collect());
    assert_eq!(older.await, Ok(Joined::New(Ordinal(2))));
    assert_eq!(places(&redis), CROWD);
    assert_eq!(
        join(&store, &room, "ann").await,
        Ok(Joined::Already(Ordinal(2)))
    );
}

fn new(joined: Result<Joined, ropeline_store::StoreError>) -> u64 {
    match joined {
        Ok(Joined::New(Ordinal(ordinal))) => ordinal,
        other => panic!("not a new place: {other:?}"),
    }
}

#[tokio::test]
async fn whoever_joins_while_redis_is_killed_has_one_place_and_nobody_elses() {
    const CALLERS: u64 = 128;
    const JOINS: u64 = 20;
    let mut redis = TestRedis::with(Persistence::Always, &[]);
    let store = Arc::new(node(&redis).await);
    let room = room_for_one(&store).await;
    let mut callers = JoinSet::new();
    for caller in 0..CALLERS {
        callers.spawn(join_many(Arc::clone(&store), room.clone(), caller, JOINS));
    }
    until("some have places", async || places(&redis) >= CALLERS * 2).await;
    redis.kill();
    redis.start_again();
    let mut given = Vec::new();
    while let Some(ordinals) = callers.join_next().await {
        given.extend(ordinals.unwrap());
    }
    let distinct: BTreeSet<_> = given.iter().copied().collect();
    assert_eq!(distinct, (1..=CALLERS * JOINS).collect());
    assert_eq!(given.len(), distinct.len());
    assert_eq!(places(&redis), CALLERS * JOINS);
}

/// Joins as one visitor after the other, each until there is a place.
async fn join_many(store: Arc<RedisStore>, room: RoomId, caller: u64, joins: u64) -> Vec<u64> {
    let mut ordinals = Vec::new();
    for n in 0..joins {
        let user = format!("user-{caller}-{n}");
        let place = loop {
            match join(&store, &room, &user).await {
                Ok(Joined::New(place) | Joined::Already(place)) => break place,
                Ok(other) => panic!("no place for {user}: {other:?}"),
                Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
            }
        };
        ordinals.push(place.0);
    }
    ordinals
}
