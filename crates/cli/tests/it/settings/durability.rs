//! Who must have a write before it is answered: on a Redis that has no replica.

use ropeline_testing::{TestRedis, http::Ask};
use serde_json::Value;

use crate::{
    process::{Server, Site},
    visitor::join,
};

fn start(redis: &TestRedis, durability: &str) -> (Site, Server) {
    let url = redis.url();
    let site = Site::new(&format!("store = '{url}'\ndurability = {durability}\n"));
    let server = site.start();
    (site, server)
}

/// What operators see of the store, on their page and in the metrics.
fn unreplicated(site: &Site, server: &Server) -> (Value, String) {
    let bearer = format!("Bearer {}", site.admin_key());
    let ask = Ask::get("/api/v1/admin/rooms").header("Authorization", &bearer);
    let list: Value = server.client().send(&ask).json();
    let metrics = server.client().send(&Ask::get("/metrics")).body;
    let metrics = String::from_utf8(metrics).expect("metrics are text");
    let mut lines = metrics.lines();
    let counted = lines.find_map(|line| line.strip_prefix("ropeline_store_unreplicated_total "));
    (
        list["store"]["unreplicated"].clone(),
        counted.expect("it is counted").to_owned(),
    )
}

#[test]
fn what_no_replica_has_is_taken_counted_or_refused_as_the_operator_wants() {
    let redis = TestRedis::start();
    let (site, server) = start(&redis, "0");
    assert_eq!(server.client().send(&join("ann")).status, 201);
    assert_eq!(unreplicated(&site, &server), (0.into(), "0".to_owned()));
    drop(server);
    let redis = TestRedis::start();
    let (site, server) = start(&redis, "1");
    assert_eq!(server.client().send(&join("ann")).status, 201);
    assert_eq!(server.client().send(&join("bob")).status, 201);
    let (list, metric) = unreplicated(&site, &server);
    // The room was made, and two have joined.
    assert_eq!((list, metric.as_str()), (3.into(), "3"));
}

#[test]
fn without_a_replica_nothing_is_taken_where_one_must_have_it() {
    for durability in ["'strict'", "'all'"] {
        let redis = TestRedis::start();
        let site = Site::new(&format!("store = '{}'\ndurability = 0\n", redis.url()));
        site.start();
        site.configure(&format!(
            "store = '{}'\ndurability = {durability}\n",
            redis.url()
        ));
        let server = site.start();
        assert_eq!(server.client().send(&join("ann")).status, 503);
        let ready: Value = server.client().send(&Ask::get("/readyz")).json();
        let reason = ready["degraded"][0]["reason"].as_str().unwrap_or_default();
        assert!(reason.contains("no replica to confirm"), "{ready}");
    }
}
