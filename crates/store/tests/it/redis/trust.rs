//! Which servers are trusted with a line, and how it looks there.

use std::sync::Arc;

use ropeline_core::RoomId;
use ropeline_store::{RedisStore, Store, SystemClock, Unreached};
use ropeline_testing::{Persistence, TestRedis};

use super::{join, node, room_for_one};
use crate::given::policy;

#[tokio::test]
async fn settings_that_put_the_line_at_risk_are_named() {
    let redis = TestRedis::with(Persistence::None, &["--maxmemory-policy", "allkeys-lru"]);
    let store = node(&redis).await;
    let warnings = store.warnings().join("\n");
    assert!(
        warnings.contains("maxmemory-policy noeviction"),
        "{warnings}"
    );
    assert!(warnings.contains("forgets every line"), "{warnings}");
    let safe = TestRedis::start();
    assert_eq!(node(&safe).await.warnings(), [""; 0]);
}

#[tokio::test]
async fn a_user_who_may_not_do_what_is_needed_is_refused_with_a_reason() {
    let redis = TestRedis::start();
    redis.cli(&[
        "ACL", "SETUSER", "poor", "on", ">secret", "~*", "+@all", "-info",
    ]);
    let url = format!("redis://poor:secret@127.0.0.1:{}", redis.port());
    let clock = Arc::new(SystemClock::start());
    let error = RedisStore::open(&url.parse().unwrap(), clock)
        .await
        .unwrap_err();
    assert!(matches!(error, Unreached::Refused(_)), "{error:?}");
    assert!(!error.to_string().contains("secret"), "{error}");
}

#[tokio::test]
async fn whoever_meets_a_room_of_an_earlier_version_is_told_so() {
    let redis = TestRedis::start();
    let store = node(&redis).await;
    let packed = "redis.call('SET', KEYS[1], cmsgpack.pack({ version = 7 }))";
    let earlier: [&[&str]; 2] = [
        &["HSET", "rl:{main}:room", "version", "7"],
        &["EVAL", packed, "1", "rl:{main}:room"],
    ];
    for write in earlier {
        redis.cli(&["DEL", "rl:{main}:room"]);
        redis.cli(write);
        let before = redis.cli(&["DUMP", "rl:{main}:room"]);
        let room = RoomId::main();
        let created = store.create(&room, Arc::new(policy()), None);
        let error = created.await.unwrap_err().to_string();
        assert!(error.contains("written by an earlier version"), "{error}");
        assert_eq!(redis.cli(&["DUMP", "rl:{main}:room"]), before);
    }
}

#[tokio::test]
async fn all_keys_of_a_room_share_its_hash_tag() {
    let redis = TestRedis::start();
    let store = node(&redis).await;
    let room = room_for_one(&store).await;
    for user in ["ann", "bob"] {
        join(&store, &room, user).await.unwrap();
    }
    let keys = redis.cli(&["KEYS", "*"]);
    let strangers: Vec<_> = keys
        .lines()
        .filter(|key| !key.starts_with("rl:{main}:") && *key != "rl:rooms")
        .collect();
    assert_eq!(strangers, [""; 0]);
    assert_eq!(redis.room_field("issued"), "2");
    assert_eq!(
        redis.cli(&["ZRANGE", "rl:{main}:places", "0", "-1"]),
        "u:ann\nu:bob"
    );
}

#[tokio::test]
async fn a_shared_text_is_replaced_only_by_who_has_read_it() {
    let redis = TestRedis::start();
    let store = node(&redis).await;
    assert_eq!(store.read_shared("keys").await.unwrap(), None);
    assert!(store.replace_shared("keys", None, "one").await.unwrap());
    assert!(!store.replace_shared("keys", None, "two").await.unwrap());
    assert!(
        store
            .replace_shared("keys", Some("one"), "two")
            .await
            .unwrap()
    );
    assert_eq!(
        store.read_shared("keys").await.unwrap().as_deref(),
        Some("two")
    );
}
