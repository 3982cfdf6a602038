//! When a write on Redis is answered.

use std::sync::Arc;

use ropeline_core::{Joined, Ordinal, RoomId};
use ropeline_store::{Durability, RedisOptions, RedisStore, Store, StoreError, SystemClock};
use ropeline_testing::TestSentinels;

use super::{join, room_for_one, until};

async fn node(group: &TestSentinels, durability: Durability) -> RedisStore {
    let options = RedisOptions {
        durability: Some(durability),
        ..RedisOptions::default()
    };
    let clock = Arc::new(SystemClock::start());
    let url = group.url().parse().unwrap();
    RedisStore::open_with(&url, clock, options).await.unwrap()
}

/// Joins take as long as the replicas: those that cannot confirm are waited for in vain.
async fn refusal(store: &RedisStore, room: &RoomId, user: &str) -> String {
    match join(store, room, user).await {
        Err(StoreError::Unavailable(why)) => why.to_string(),
        answer => panic!("{user}: {answer:?}"),
    }
}

#[tokio::test]
async fn each_durability_takes_what_it_can_answer_for() {
    let mut group = TestSentinels::start();
    let master = group.master();
    let replicas: Vec<_> = (0..group.count()).filter(|one| *one != master).collect();
    let [loose, strict, all] = [
        node(&group, Durability::Replica).await,
        node(&group, Durability::Strict).await,
        node(&group, Durability::All).await,
    ];
    let room = room_for_one(&loose).await;
    for store in [&strict, &all] {
        until("all nodes know the room", async || store.rooms().len() == 1).await;
    }
    for (store, user) in [(&loose, "ann"), (&strict, "bob"), (&all, "cyd")] {
        assert!(
            matches!(join(store, &room, user).await, Ok(Joined::New(_))),
            "{user}"
        );
    }
    // One replica hangs: the other confirms, which is not all of them.
    group.freeze(replicas[0]);
    assert_eq!(
        join(&strict, &room, "dan").await,
        Ok(Joined::New(Ordinal(4)))
    );
    let why = refusal(&all, &room, "eve").await;
    assert_eq!(why, "1 of 2 replicas have confirmed in time");
    // It has a place all the same, and who asks again has that one.
    group.thaw(replicas[0]);
    until("both confirm", async || {
        matches!(
            join(&all, &room, "eve").await,
            Ok(Joined::Already(Ordinal(5)))
        )
    })
    .await;
    // Nobody is there to confirm: only who takes that is answered, and it is counted.
    assert_eq!(loose.unreplicated(), 0);
    for replica in &replicas {
        group.kill(*replica);
    }
    until("the node sees that there is no replica", async || {
        join(&loose, &room, "fay").await.is_ok()
    })
    .await;
    assert!(loose.unreplicated() >= 1);
    for store in [&strict, &all] {
        let why = refusal(store, &room, "gus").await;
        assert!(why.contains("no replica to confirm"), "{why}");
        assert_eq!(store.unreplicated(), 0);
    }
    for replica in &replicas {
        group.start_again(*replica);
    }
    until("all is well again", async || {
        join(&all, &room, "gus").await.is_ok()
    })
    .await;
}
