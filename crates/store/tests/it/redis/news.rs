//! Answers that say what a node has to show.

use ropeline_core::{Joined, Ordinal};
use ropeline_store::Store;
use ropeline_testing::TestRedis;

use super::{join, node, room_for_one};

/// How often functions were called so far.
fn calls(redis: &TestRedis) -> u64 {
    let stats = redis.cli(&["INFO", "commandstats"]);
    let (_, functions) = stats.split_once("cmdstat_fcall:calls=").unwrap();
    let (calls, _) = functions.split_once(',').unwrap();
    calls.parse().unwrap()
}

#[tokio::test]
async fn a_join_is_one_call_and_in_the_view_when_it_is_answered() {
    const JOINS: u64 = 200;
    let redis = TestRedis::on_no_disk();
    let store = node(&redis).await;
    let room = room_for_one(&store).await;
    join(&store, &room, "first").await.unwrap();
    let before = calls(&redis);
    for n in 2..=JOINS {
        let joined = join(&store, &room, &format!("user-{n}")).await;
        assert_eq!(joined, Ok(Joined::New(Ordinal(n))));
        let view = store.view(&room).unwrap().view;
        assert_eq!(view.header.issued, Ordinal(n));
    }
    // The room is followed several times a second meanwhile.
    let made = calls(&redis) - before;
    assert!(made < JOINS + JOINS / 2, "{made} calls for {JOINS} joins");
}
