//! Functions, answers that are lost on the way, and a Redis that is away for a while.

use std::{sync::Arc, time::Duration};

use ropeline_core::{Joined, Ordinal};
use ropeline_store::{Health, Operation, RedisStore, Store, StoreError, SystemClock};
use ropeline_testing::TestRedis;

use super::{join, node, node_at, proxy::Proxy, room_for_one, until};

#[tokio::test]
async fn functions_that_redis_has_forgotten_are_loaded_again() {
    let redis = TestRedis::start();
    let store = node(&redis).await;
    let room = room_for_one(&store).await;
    join(&store, &room, "ann").await.unwrap();
    redis.cli(&["FUNCTION", "FLUSH"]);
    assert_eq!(
        join(&store, &room, "bob").await,
        Ok(Joined::New(Ordinal(2)))
    );
}

#[tokio::test]
async fn a_node_starts_on_a_redis_without_memory_that_has_the_functions() {
    let redis = TestRedis::start();
    let first = node(&redis).await;
    let room = room_for_one(&first).await;
    join(&first, &room, "ann").await.unwrap();
    redis.cli(&["CONFIG", "SET", "maxmemory", "1"]);
    let second = node(&redis).await;
    let seen = second.view(&room).unwrap().view;
    assert_eq!(seen.header.issued, Ordinal(1));
}

#[tokio::test]
async fn a_replica_that_lacks_the_functions_is_called_a_replica() {
    let (master, replica) = (TestRedis::start(), TestRedis::start());
    replica.cli(&["REPLICAOF", "127.0.0.1", &master.port().to_string()]);
    until("the replica follows", async || {
        replica
            .cli(&["INFO", "replication"])
            .contains("master_link_status:up")
    })
    .await;
    let clock = Arc::new(SystemClock::start());
    let opened = RedisStore::open(&replica.url().parse().unwrap(), clock).await;
    let words = opened.map(drop).unwrap_err().to_string();
    assert!(words.contains("name its master"), "{words}");
}

#[tokio::test]
async fn a_join_whose_answer_was_lost_is_answered_as_the_new_place_it_got() {
    let redis = TestRedis::start();
    let proxy = Proxy::to(redis.port()).await;
    let store = node_at(&proxy.url()).await;
    let room = room_for_one(&store).await;
    join(&store, &room, "ann").await.unwrap();
    proxy.swallow_answers();
    let (joined, ()) = tokio::join!(join(&store, &room, "bob"), async {
        until("the join reaches Redis", async || {
            redis.cli(&["ZSCORE", "rl:{main}:places", "u:bob"]) == "2"
        })
        .await;
        proxy.let_through();
    });
    assert_eq!(joined, Ok(Joined::New(Ordinal(2))));
    assert_eq!(
        join(&store, &room, "bob").await,
        Ok(Joined::Already(Ordinal(2)))
    );
}

#[tokio::test]
async fn an_operators_word_whose_answer_was_lost_counts_once() {
    let redis = TestRedis::start();
    let proxy = Proxy::to(redis.port()).await;
    let store = node_at(&proxy.url()).await;
    let room = room_for_one(&store).await;
    let extra = || redis.room_field("tick_extra");
    proxy.swallow_answers();
    let (admitted, ()) = tokio::join!(store.operate(&room, Operation::Admit(7)), async {
        until("the word reaches Redis", async || extra() == "7").await;
        proxy.let_through();
    });
    admitted.unwrap();
    assert_eq!(extra(), "7");
}

#[tokio::test]
async fn while_redis_is_frozen_joins_are_refused_and_all_resumes_by_itself() {
    let redis = TestRedis::start();
    let store = node(&redis).await;
    let room = room_for_one(&store).await;
    join(&store, &room, "ann").await.unwrap();
    redis.freeze();
    until("the outage is noticed", async || {
        store.health_of(&room) != Health::Up
    })
    .await;
    let refused = join(&store, &room, "bob").await;
    assert!(
        matches!(refused, Err(StoreError::Unavailable(_))),
        "{refused:?}"
    );
    let seen = store.view(&room).unwrap();
    assert_eq!(seen.view.header.issued, Ordinal(1), "the last view goes on");
    redis.thaw();
    until("the store is back", async || store.health() == Health::Up).await;
    assert_eq!(
        join(&store, &room, "bob").await,
        Ok(Joined::New(Ordinal(2)))
    );
    assert!(store.view(&room).unwrap().fresh_at >= seen.fresh_at + Duration::from_secs(1));
}

#[tokio::test]
async fn a_redis_without_memory_refuses_joins_and_lets_people_leave() {
    let redis = TestRedis::start();
    let store = node(&redis).await;
    let room = room_for_one(&store).await;
    for user in ["ann", "bob"] {
        join(&store, &room, user).await.unwrap();
    }
    redis.cli(&["CONFIG", "SET", "maxmemory", "1"]);
    let refused = join(&store, &room, "carol").await;
    let words = refused.unwrap_err().to_string();
    assert!(words.contains("out of memory"), "{words}");
    store
        .leave(&room, crate::given::holder("bob", 2))
        .await
        .unwrap();
    redis.cli(&["CONFIG", "SET", "maxmemory", "0"]);
    until("joins are taken again", async || {
        join(&store, &room, "carol").await.is_ok()
    })
    .await;
}
