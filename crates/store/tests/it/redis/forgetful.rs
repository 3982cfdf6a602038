//! A Redis that has forgotten: everybody who asks again is back at the old ordinal, and nobody who left is.

use ropeline_core::{Ending, Joined, Live, Ordinal, Standing};
use ropeline_store::{Operation, RedisStore, Store};
use ropeline_testing::{Persistence, TestRedis};

use super::{RoomId, ask, join, node, room_for_one, until};
use crate::given::holder;

/// What a room leaves out that was restored: another node may have given so many since it was seen last.
const RESERVE: u64 = 20;

/// Ten in line behind one inside; one of them has left, and one was inside before.
async fn line_of_ten(store: &RedisStore) -> RoomId {
    let room = room_for_one(store).await;
    for n in 1..=12 {
        join(store, &room, &format!("user-{n}")).await.unwrap();
    }
    store.finish(&room, holder("user-1", 1)).await.unwrap();
    store.leave(&room, holder("user-7", 7)).await.unwrap();
    store.stock(&room, Some(40)).await.unwrap();
    room
}

async fn all_are_back(store: &RedisStore, room: &RoomId, next: u64) {
    assert_eq!(
        ask(store, room, "user-1", 1).await,
        Standing::Ended(Ending::Done)
    );
    assert_eq!(
        ask(store, room, "user-7", 7).await,
        Standing::Ended(Ending::Gone)
    );
    for n in (3..=12).filter(|n| *n != 7) {
        let standing = ask(store, room, &format!("user-{n}"), n).await;
        assert_eq!(standing, Standing::Live(Live::InLine), "user-{n}");
    }
    until("user-2, who was inside, is let in again", async || {
        let second = ask(store, room, "user-2", 2).await;
        matches!(second, Standing::Live(Live::Inside(_)))
    })
    .await;
    assert_eq!(
        join(store, room, "late").await,
        Ok(Joined::New(Ordinal(next)))
    );
    let left = store.view(room).unwrap().view.header.stock;
    assert_eq!(left, Some(40));
}

#[tokio::test]
async fn after_flushall_everybody_who_asks_is_back() {
    let redis = TestRedis::start();
    let store = node(&redis).await;
    let room = line_of_ten(&store).await;
    redis.cli(&["FLUSHALL"]);
    until("the room is restored", async || {
        redis.cli(&["EXISTS", "rl:{main}:room"]) == "1"
    })
    .await;
    all_are_back(&store, &room, 13 + RESERVE).await;
    assert_eq!(redis.cli(&["SMEMBERS", "rl:rooms"]), "main");
}

#[tokio::test]
async fn after_a_restart_with_nothing_everybody_who_asks_is_back() {
    let mut redis = TestRedis::with(Persistence::None, &[]);
    let store = node(&redis).await;
    let room = line_of_ten(&store).await;
    redis.restart_empty();
    until("the room is restored", async || {
        redis.cli(&["EXISTS", "rl:{main}:room"]) == "1"
    })
    .await;
    until("the store is up", async || {
        store.health() == ropeline_store::Health::Up
    })
    .await;
    all_are_back(&store, &room, 13 + RESERVE).await;
}

#[tokio::test]
async fn after_a_restart_with_everything_nothing_has_changed() {
    let mut redis = TestRedis::start();
    let store = node(&redis).await;
    let room = line_of_ten(&store).await;
    redis.kill();
    redis.start_again();
    until("the store is up", async || {
        store.refresh(&room).await;
        join(&store, &room, "user-12").await == Ok(Joined::Already(Ordinal(12)))
    })
    .await;
    assert_eq!(store.view(&room).unwrap().view.header.lost, None);
    all_are_back(&store, &room, 13).await;
}

#[tokio::test]
async fn a_restart_that_lost_the_last_writes_gives_no_ordinal_twice_and_brings_nobody_back() {
    let mut redis = TestRedis::start();
    let (one, two) = (node(&redis).await, node(&redis).await);
    let room = line_of_ten(&one).await;
    until("the other node finds the room", async || {
        two.view(&room).is_some()
    })
    .await;
    let before = std::fs::read_dir(redis.directory().join("appendonlydir")).unwrap();
    let files: Vec<_> = before
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.clone(), std::fs::read(path).unwrap()))
        .collect();
    // What happens now is lost.
    one.stock(&room, Some(39)).await.unwrap();
    for n in 13..=15 {
        join(&two, &room, &format!("user-{n}")).await.unwrap();
    }
    one.leave(&room, holder("user-4", 4)).await.unwrap();
    redis.kill();
    for (path, content) in files {
        std::fs::write(path, content).unwrap();
    }
    redis.start_again();
    until("joins are taken again", async || {
        join(&one, &room, "late").await == Ok(Joined::New(Ordinal(16)))
            || join(&one, &room, "late").await == Ok(Joined::Already(Ordinal(16)))
    })
    .await;
    assert_eq!(
        ask(&two, &room, "user-4", 4).await,
        Standing::Ended(Ending::Gone)
    );
    let left = one.view(&room).unwrap().view.header.stock;
    assert_eq!(left, Some(39));
    for n in 13..=15 {
        let standing = ask(&one, &room, &format!("user-{n}"), n).await;
        assert_eq!(standing, Standing::Live(Live::InLine), "user-{n}");
    }
}

#[tokio::test]
async fn a_node_without_memory_that_makes_a_lost_room_anew_does_not_put_anybody_out() {
    let redis = TestRedis::start();
    let store = node(&redis).await;
    let room = line_of_ten(&store).await;
    let epoch = store.view(&room).unwrap().view.header.epoch;
    // As if a node had started in the instant after.
    redis.cli(&["FLUSHALL"]);
    let newcomer = node(&redis).await;
    room_for_one(&newcomer).await;
    until("the old room is back", async || {
        newcomer.refresh(&room).await;
        newcomer.view(&room).unwrap().view.header.epoch == epoch
    })
    .await;
    all_are_back(&store, &room, 13 + RESERVE).await;
}

#[tokio::test]
async fn a_room_that_began_again_does_not_count_the_places_of_the_one_before() {
    let mut redis = TestRedis::start();
    let store = node(&redis).await;
    let room = line_of_ten(&store).await;
    store.operate(&room, Operation::Delete).await.unwrap();
    room_for_one(&store).await;
    for user in ["ann", "bob"] {
        join(&store, &room, user).await.unwrap();
    }
    redis.kill();
    redis.start_again();
    until("joins are taken again", async || {
        join(&store, &room, "bob").await == Ok(Joined::Already(Ordinal(2)))
    })
    .await;
    let header = store.view(&room).unwrap().view.header.clone();
    assert_eq!((header.issued, header.lost), (Ordinal(2), None));
}

#[tokio::test]
async fn a_room_that_an_earlier_version_wrote_has_no_stock_until_it_is_told() {
    let redis = TestRedis::start();
    let store = node(&redis).await;
    let room = line_of_ten(&store).await;
    store.close().await;
    for field in ["stock", "stock_version"] {
        redis.set_room_field(field, None);
    }
    let store = node(&redis).await;
    let left = async || {
        store.refresh(&room).await;
        store.view(&room).unwrap().view.header.stock
    };
    until("the room is found", async || store.view(&room).is_some()).await;
    assert_eq!(left().await, None);
    let memory = store.view(&room).unwrap().view;
    store.merge(&room, memory).await.unwrap();
    assert_eq!(left().await, None);
    store.stock(&room, Some(40)).await.unwrap();
    all_are_back(&store, &room, 13).await;
}
