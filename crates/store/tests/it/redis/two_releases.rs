//! Nodes of the last release and of this one on the same Redis, as during an upgrade.

use std::{collections::BTreeSet, sync::Arc};

use redis::{Connection, Value};
use ropeline_core::{Joined, RoomId};
use ropeline_store::{RedisStore, Store};
use ropeline_testing::TestRedis;
use tokio::task::JoinSet;

use super::{join, node, room_for_one, until};
use crate::given::holder;

/// The library as the last release loads it.
const RELEASED: &str = include_str!("released.lua");
/// In the order of that release.
const PARTS: [&str; 16] = [
    "room", "places", "active", "since", "aside", "door", "gone", "done", "seen0", "seen1",
    "seen2", "log", "keys0", "keys1", "imported", "claimed",
];
const JOINS: u64 = 200;

/// A node of the last release, as Redis sees it.
struct ReleasedNode(Connection);

impl ReleasedNode {
    fn on(redis: &TestRedis) -> Self {
        let client = redis::Client::open(redis.url()).unwrap();
        let mut connection = client.get_connection().unwrap();
        let load = redis::cmd("FUNCTION")
            .arg("LOAD")
            .arg("REPLACE")
            .arg(RELEASED)
            .clone();
        load.exec(&mut connection).unwrap();
        Self(connection)
    }

    /// Calls a function, for which nothing is known of the room; the answer as it is packed.
    fn call(&mut self, function: &str, note: Option<&str>, arguments: &[&str]) -> Vec<u8> {
        let key = |part: &&str| format!("rl:{{main}}:{part}");
        let keys: Vec<_> = PARTS.iter().chain(note.iter()).map(key).collect();
        let mut call = redis::cmd("FCALL");
        call.arg(format!("rl_released_{function}"))
            .arg(keys.len())
            .arg(keys);
        // Clock, bounds, and the version, epoch and server that the node shows: none.
        call.arg("")
            .arg(500)
            .arg(16 << 20)
            .arg(1 << 20)
            .arg(-1)
            .arg(0)
            .arg("");
        call.arg(arguments);
        match call.query(&mut self.0).unwrap() {
            Value::BulkString(packed) => packed,
            other => panic!("{other:?}"),
        }
    }

    fn join(&mut self, number: u64, user: &str) {
        let (number, visitor) = (number.to_string(), format!("u:{user}"));
        let arguments = [number.as_str(), "first", "1", visitor.as_str()];
        let answer = self.call("join", Some("joins:released:0"), &arguments);
        assert!(is_ok(&answer), "{answer:?}");
    }

    fn leave(&mut self, user: &str, ordinal: u64) {
        let (visitor, ordinal) = (format!("u:{user}"), ordinal.to_string());
        let answer = self.call(
            "depart",
            None,
            &["leave", visitor.as_str(), ordinal.as_str()],
        );
        assert!(is_ok(&answer), "{answer:?}");
    }
}

/// A list whose first value is the text "ok".
fn is_ok(packed: &[u8]) -> bool {
    packed.windows(3).take(4).any(|bytes| bytes == b"\xa2ok")
}

async fn crowd(store: &Arc<RedisStore>, room: &RoomId) -> BTreeSet<u64> {
    let mut joining = JoinSet::new();
    for n in 0..JOINS {
        let (store, room) = (Arc::clone(store), room.clone());
        joining.spawn(async move { join(&store, &room, &format!("now-{n}")).await });
    }
    let mut ordinals = BTreeSet::new();
    while let Some(joined) = joining.join_next().await {
        let Joined::New(ordinal) = joined.unwrap().unwrap() else {
            panic!("everybody is new");
        };
        ordinals.insert(ordinal.0);
    }
    ordinals
}

#[tokio::test(flavor = "multi_thread")]
async fn joins_and_departures_of_both_releases_are_one_line() {
    let redis = TestRedis::start();
    let store = Arc::new(node(&redis).await);
    let room = room_for_one(&store).await;
    let mut released = ReleasedNode::on(&redis);
    let released_joins = tokio::task::spawn_blocking(move || {
        for n in 0..JOINS {
            released.join(n + 1, &format!("before-{n}"));
        }
        released
    });
    let ours = crowd(&store, &room).await;
    let mut released = released_joins.await.unwrap();
    assert_eq!(ours.len() as u64, JOINS, "no ordinal was given twice");
    let places = || redis.cli(&["ZCARD", "rl:{main}:places"]);
    assert_eq!(places(), (2 * JOINS).to_string());
    let scores = redis.cli(&["ZRANGE", "rl:{main}:places", "0", "-1", "WITHSCORES"]);
    let ordinals: BTreeSet<_> = scores
        .lines()
        .skip(1)
        .step_by(2)
        .map(str::to_owned)
        .collect();
    assert_eq!(ordinals.len() as u64, 2 * JOINS, "nor to one node of each");

    // Each side ends the place of somebody who joined on the other.
    let of = |user: &str| {
        let score = redis.cli(&["ZSCORE", "rl:{main}:places", &format!("u:{user}")]);
        score.parse::<u64>().unwrap()
    };
    let (theirs, mine) = (of("before-199"), of("now-7"));
    store
        .leave(&room, holder("before-199", theirs))
        .await
        .unwrap();
    released.leave("now-7", mine);
    assert_eq!(places(), (2 * JOINS - 2).to_string());
    until("this node shows both departures", async || {
        store.refresh(&room).await;
        let view = store.view(&room).unwrap().view;
        [theirs, mine]
            .iter()
            .all(|ordinal| view.gone.contains(*ordinal))
    })
    .await;
}

/// What this release writes in a room the last one keeps, and reads over.
#[tokio::test]
async fn a_room_that_both_write_keeps_its_generation() {
    let mut redis = TestRedis::start();
    let store = node(&redis).await;
    let room = room_for_one(&store).await;
    join(&store, &room, "ann").await.unwrap();
    redis.kill();
    redis.start_again();
    until("joins are taken again", async || {
        join(&store, &room, "bob").await.is_ok()
    })
    .await;
    assert_eq!(redis.room_field("generation"), "1");
    let mut released = ReleasedNode::on(&redis);
    released.join(1, "cid");
    assert_eq!(redis.room_field("generation"), "1");
    assert!(join(&store, &room, "dan").await.is_ok());
    assert_eq!(redis.cli(&["ZCARD", "rl:{main}:places"]), "4");
}
