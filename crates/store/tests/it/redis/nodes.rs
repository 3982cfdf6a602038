//! Several nodes on one Redis.

use ropeline_core::{Joined, Live, Located, Ordinal, Standing};
use ropeline_store::{Operation, Store};
use ropeline_testing::TestRedis;

use super::{ask, join, node, room_for_one, until};
use crate::given::holder;

#[tokio::test]
async fn nodes_share_one_line() {
    let redis = TestRedis::start();
    let (one, two) = (node(&redis).await, node(&redis).await);
    let room = room_for_one(&one).await;
    until("the other node finds the room", async || {
        two.view(&room).is_some()
    })
    .await;
    assert_eq!(join(&one, &room, "ann").await, Ok(Joined::New(Ordinal(1))));
    assert_eq!(join(&two, &room, "bob").await, Ok(Joined::New(Ordinal(2))));
    assert_eq!(
        join(&one, &room, "bob").await,
        Ok(Joined::Already(Ordinal(2)))
    );
    assert!(matches!(
        ask(&two, &room, "ann", 1).await,
        Standing::Live(Live::Inside(_))
    ));
    one.leave(&room, holder("ann", 1)).await.unwrap();
    assert!(matches!(
        ask(&two, &room, "bob", 2).await,
        Standing::Live(Live::Inside(_))
    ));
}

#[tokio::test]
async fn a_nodes_own_answer_is_in_its_view_at_once_and_in_the_others_soon() {
    let redis = TestRedis::start();
    let (one, two) = (node(&redis).await, node(&redis).await);
    let room = room_for_one(&one).await;
    until("the other node finds the room", async || {
        two.view(&room).is_some()
    })
    .await;
    for n in 1..=20 {
        join(&one, &room, &format!("user-{n}")).await.unwrap();
        assert_eq!(one.view(&room).unwrap().view.header.issued, Ordinal(n));
    }
    for n in (3..=19).step_by(2) {
        one.leave(&room, holder(&format!("user-{n}"), n))
            .await
            .unwrap();
    }
    let mine = one.view(&room).unwrap().view;
    until("the other node follows", async || {
        two.view(&room).unwrap().view.header.version >= mine.header.version
    })
    .await;
    let theirs = two.view(&room).unwrap().view;
    for n in 1..=20 {
        assert_eq!(mine.locate(Ordinal(n)), theirs.locate(Ordinal(n)), "{n}");
    }
    let last = mine.locate(Ordinal(20));
    assert_eq!(
        last,
        Located::InLine {
            ahead: 9,
            behind: 0
        }
    );
}

#[tokio::test]
async fn a_node_that_fell_far_behind_takes_a_snapshot() {
    let redis = TestRedis::start();
    let one = node(&redis).await;
    let room = room_for_one(&one).await;
    let two = node(&redis).await;
    // More versions than a node reads from the log at once.
    for n in 1..=400 {
        join(&one, &room, &format!("user-{n}")).await.unwrap();
        one.leave(&room, holder(&format!("user-{n}"), n))
            .await
            .unwrap();
    }
    two.refresh(&room).await;
    let (mine, theirs) = (one.view(&room).unwrap().view, two.view(&room).unwrap().view);
    assert_eq!(theirs.header.version, mine.header.version);
    assert_eq!(theirs.gone.count(0..401), mine.gone.count(0..401));
    assert_eq!(theirs.done.count(0..401), mine.done.count(0..401));
}

#[tokio::test]
async fn a_node_notices_that_the_log_was_trimmed() {
    let redis = TestRedis::start();
    let one = node(&redis).await;
    let room = room_for_one(&one).await;
    for n in 1..=20 {
        join(&one, &room, &format!("user-{n}")).await.unwrap();
    }
    let two = node(&redis).await;
    two.refresh(&room).await;
    for n in 2..=20 {
        let left = one.leave(&room, holder(&format!("user-{n}"), n));
        left.await.unwrap();
    }
    redis.cli(&["XTRIM", "rl:{main}:log", "MAXLEN", "1"]);
    two.refresh(&room).await;
    let theirs = two.view(&room).unwrap().view;
    assert_eq!(theirs.gone.count(0..21), 19);
}

#[tokio::test]
async fn joins_that_only_give_places_are_not_logged_and_all_nodes_hear_of_them() {
    let redis = TestRedis::start();
    let (one, two) = (node(&redis).await, node(&redis).await);
    let room = room_for_one(&one).await;
    until("the other node finds the room", async || {
        two.view(&room).is_some()
    })
    .await;
    join(&one, &room, "user-1").await.unwrap();
    let logged = || redis.cli(&["XLEN", "rl:{main}:log"]);
    let before = logged();
    for n in 2..=20 {
        join(&one, &room, &format!("user-{n}")).await.unwrap();
    }
    assert_eq!(logged(), before);
    two.refresh(&room).await;
    let theirs = two.view(&room).unwrap().view;
    assert_eq!(theirs.header.issued, Ordinal(20));
    // What ended before and after is told as ever.
    one.leave(&room, holder("user-7", 7)).await.unwrap();
    join(&one, &room, "user-21").await.unwrap();
    two.refresh(&room).await;
    let theirs = two.view(&room).unwrap().view;
    assert_eq!(theirs.header.issued, Ordinal(21));
    assert_eq!(theirs.gone.iter_from(0).collect::<Vec<_>>(), [7]);
}

#[tokio::test]
async fn what_one_node_deletes_is_not_there_for_the_others() {
    let redis = TestRedis::start();
    let (one, two) = (node(&redis).await, node(&redis).await);
    let room = room_for_one(&one).await;
    until("the other node finds the room", async || {
        two.view(&room).is_some()
    })
    .await;
    one.operate(&room, Operation::Delete).await.unwrap();
    until("the other node hears of it", async || {
        two.view(&room).is_none()
    })
    .await;
    assert!(two.rooms().is_empty());
}
