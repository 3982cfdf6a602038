//! Helpers for Ropeline's tests. Never part of the product.

#![expect(
    clippy::missing_panics_doc,
    reason = "a test helper that panics fails its test"
)]

pub mod api;
mod certificates;
mod clock;
mod database;
pub mod fleet;
pub mod history;
pub mod http;
pub mod line;
pub mod login;
mod redis;
mod secret;

pub use certificates::TestCertificates;
pub use clock::ManualClock;
pub use database::{TestMariaDb, TestPostgres};
pub use redis::{
    Clocks, ClusterOptions, Cut, Moving, Pace, Persistence, SET_ROOM_FIELD, SentinelOptions, Side,
    TestCluster, TestRedis, TestSentinels, TestServers, TestStandalone, free_port,
};
pub use secret::write_secret;
