//! Redis on several servers: where they are, what is wrong with them, and where they go.

use std::sync::Arc;

use ropeline_core::{Joined, Ordinal, RoomId};
use ropeline_store::{Health, RedisStore, Store, SystemClock, Unreached};
use ropeline_testing::{
    ClusterOptions, Persistence, SentinelOptions, TestCluster, TestRedis, TestSentinels, free_port,
};

use super::{join, node_at, room_for_one, until};
use crate::given::policy;

async fn unreached(url: &str) -> Unreached {
    let clock = Arc::new(SystemClock::start());
    let opened = RedisStore::open(&url.parse().unwrap(), clock).await;
    opened.map(drop).unwrap_err()
}

#[tokio::test]
async fn what_puts_a_line_behind_sentinels_at_risk_is_named() {
    let group = TestSentinels::with(&SentinelOptions {
        persistence: Persistence::None,
        ..SentinelOptions::default()
    });
    let replica = (group.master() + 1) % group.count();
    group.cli(replica, &["CONFIG", "SET", "replica-priority", "10"]);
    group.cli(
        replica,
        &["CONFIG", "SET", "maxmemory-policy", "allkeys-lru"],
    );
    let address = group.address(replica);
    // The Sentinels ask their servers now and then.
    until("the Sentinels know the priorities", async || {
        let warnings = node_at(&group.url()).await.warnings().join("\n");
        warnings.contains(&format!("{address} has 10"))
    })
    .await;
    let warnings = node_at(&group.url()).await.warnings().join("\n");
    for named in [
        "replica-priority",
        "down-after-milliseconds",
        "min-replicas-to-write",
        "appendonly yes",
        &format!("Redis {address} may throw away"),
    ] {
        assert!(warnings.contains(named), "{named}: {warnings}");
    }
}

#[tokio::test]
async fn what_puts_the_lines_of_a_cluster_at_risk_is_named() {
    let cluster = TestCluster::with(&ClusterOptions {
        settings: vec!["maxmemory-policy volatile-ttl".to_owned()],
        ..ClusterOptions::default()
    });
    for server in 0..cluster.count() {
        cluster.cli(
            server,
            &["CONFIG", "SET", "cluster-require-full-coverage", "yes"],
        );
    }
    let warnings = node_at(&cluster.url()).await.warnings().join("\n");
    for server in 0..cluster.count() {
        let named = format!("Redis {} may throw away", cluster.address(server));
        assert!(warnings.contains(&named), "{named}: {warnings}");
    }
    for named in ["cluster-node-timeout", "cluster-require-full-coverage no"] {
        assert_eq!(warnings.matches(named).count(), 1, "{named}: {warnings}");
    }
}

#[tokio::test]
async fn whoever_names_the_wrong_servers_is_told_what_to_write() {
    let group = TestSentinels::start();
    let single = TestRedis::start();
    let at_single = single.url().replace("redis://", "");
    let at_single = at_single.trim_end_matches('/');
    let wrong_name = group.url().replace("/mymaster", "/other");
    for (url, told) in [
        (wrong_name, "they watch mymaster"),
        (
            format!("redis+sentinel://{at_single}/mymaster"),
            "this is no Sentinel",
        ),
        (format!("redis+cluster://{at_single}"), "write redis://"),
    ] {
        match unreached(&url).await {
            Unreached::Refused(why) => assert!(why.contains(told), "{why}"),
            Unreached::Away(why) => panic!("{url} is waited for: {why}"),
        }
    }
    let nobody = free_port();
    for (url, told) in [
        (
            format!("redis+sentinel://127.0.0.1:{nobody}/m"),
            "no Sentinel answers",
        ),
        (
            format!("redis+cluster://127.0.0.1:{nobody}"),
            "no server of the Cluster answers",
        ),
    ] {
        match unreached(&url).await {
            Unreached::Away(why) => assert!(why.contains(told), "{why}"),
            Unreached::Refused(why) => panic!("{url} is given up: {why}"),
        }
    }
}

#[tokio::test]
async fn one_server_of_a_cluster_is_no_single_redis() {
    let cluster = TestCluster::start();
    let list = cluster.owner_of("rl:rooms");
    let other = (0..3).find(|server| *server != list).unwrap();
    let url = format!("redis://{}", cluster.address(other));
    let error = unreached(&url).await;
    assert!(error.to_string().contains("redis+cluster://"), "{error}");
}

#[tokio::test]
async fn rooms_are_spread_over_a_cluster_and_fail_one_by_one() {
    let mut cluster = TestCluster::start();
    let store = node_at(&cluster.url()).await;
    let rooms: Vec<_> = ["main", "b", "c", "d", "e", "f", "g", "h"]
        .map(|name| RoomId::parse(name).unwrap())
        .into();
    for room in &rooms {
        store.create(room, Arc::new(policy()), None).await.unwrap();
        assert_eq!(join(&store, room, "ann").await, Ok(Joined::New(Ordinal(1))));
    }
    let owner = |room: &RoomId| cluster.owner_of(&format!("rl:{{{room}}}:room"));
    let lost = owner(&rooms[0]);
    let (away, there): (Vec<_>, Vec<_>) = rooms.iter().partition(|room| owner(room) == lost);
    assert!(!there.is_empty());
    cluster.kill(lost);
    until("the rooms of the dead server are away", async || {
        store.health_of(away[0]) != Health::Up
    })
    .await;
    for room in &there {
        assert_eq!(store.health_of(room), Health::Up, "{room}");
        assert_eq!(join(&store, room, "bob").await, Ok(Joined::New(Ordinal(2))));
    }
    for room in &away {
        until("its replica has taken over", async || {
            join(&store, room, "bob").await.is_ok()
        })
        .await;
        let bob = join(&store, room, "bob").await;
        assert_eq!(bob, Ok(Joined::Already(Ordinal(2))), "{room}");
    }
    until("all is well", async || store.health() == Health::Up).await;
}

#[tokio::test]
async fn a_room_moves_with_its_slot() {
    let cluster = TestCluster::start();
    let store = node_at(&cluster.url()).await;
    let room = room_for_one(&store).await;
    for user in ["ann", "bob"] {
        join(&store, &room, user).await.unwrap();
    }
    let slot = cluster.slot_of("rl:{main}:room");
    let to = (cluster.owner_of_slot(slot) + 1) % 3;
    cluster.migrate_slot(slot, to);
    assert_eq!(
        join(&store, &room, "cyd").await,
        Ok(Joined::New(Ordinal(3)))
    );
    assert_eq!(
        join(&store, &room, "ann").await,
        Ok(Joined::Already(Ordinal(1)))
    );
    let places = cluster.cli(to, &["ZRANGE", "rl:{main}:places", "0", "-1"]);
    assert_eq!(places, "u:ann\nu:bob\nu:cyd");
}
