//! What a server says of its rooms.

use std::time::Duration;

use jiff::Timestamp;
use ropeline_core::{Identity, Policy, RoomId};
use ropeline_server::config::parse_span;
use serde::{Deserialize, Deserializer, de};

use super::trouble::Trouble;
use crate::http::Answer;

/// Reads an answer that must have a certain shape.
pub(crate) fn read<'a, T: Deserialize<'a>>(answer: &'a Answer) -> Result<T, Trouble> {
    serde_json::from_slice(&answer.body).map_err(|_| Trouble::strange(answer))
}

#[derive(Debug, Deserialize)]
pub(super) struct RoomList {
    pub(super) rooms: Vec<Room>,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct Room {
    #[serde(rename = "room")]
    pub(super) id: RoomId,
    pub(super) state: String,
    pub(super) waiting: u64,
    pub(super) active: u64,
    pub(super) aside: u64,
    pub(super) door: u64,
    pub(super) issued: u64,
    #[serde(rename = "seatsLeft")]
    pub(super) seats_left: Option<u64>,
    #[serde(with = "PolicyJson")]
    pub(super) policy: Policy,
}

/// A policy as the admin API writes it.
#[derive(Deserialize)]
#[serde(remote = "Policy", rename_all = "camelCase")]
struct PolicyJson {
    #[serde(deserialize_with = "span")]
    every: Duration,
    batch: Option<u64>,
    active_max: Option<u64>,
    #[serde(deserialize_with = "span")]
    pass_ttl: Duration,
    #[serde(deserialize_with = "span")]
    pass_max: Duration,
    #[serde(deserialize_with = "span")]
    presence_ttl: Duration,
    #[serde(deserialize_with = "span")]
    missed_turn_ttl: Duration,
    waiting_max: u64,
    identity: Identity,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Stats {
    #[serde(deserialize_with = "moment")]
    pub(super) as_of: Timestamp,
    pub(super) estimate: Option<Estimate>,
    pub(super) per_minute: PerMinute,
    pub(super) waits: Waits,
    pub(super) estimates: Grade,
    pub(super) series: Vec<Point>,
}

/// In seconds, what somebody would be told who joined now.
#[derive(Debug, Clone, Copy, Deserialize)]
pub(super) struct Estimate {
    pub(super) seconds: u64,
    pub(super) low: u64,
    pub(super) high: u64,
}

#[derive(Debug, Clone, Copy, Deserialize)]
pub(super) struct PerMinute {
    pub(super) joined: f64,
    pub(super) admitted: f64,
    pub(super) departed: f64,
    pub(super) left: f64,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Waits {
    pub(super) count: u64,
    /// None, as the others, while nobody's turn has come.
    pub(super) p50_seconds: Option<f64>,
    pub(super) p90_seconds: Option<f64>,
    pub(super) p99_seconds: Option<f64>,
    pub(super) max_seconds: Option<f64>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Grade {
    /// None, as the others, while no estimate has come due.
    pub(super) mean_error_seconds: Option<f64>,
    pub(super) mean_abs_error_seconds: Option<f64>,
    pub(super) within_band: Option<f64>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
pub(super) struct Point {
    #[serde(deserialize_with = "moment")]
    pub(super) at: Timestamp,
    pub(super) waiting: u64,
    pub(super) active: u64,
    pub(super) admitted: u64,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Visitor {
    pub(super) verified: bool,
    pub(super) ordinal: u64,
    pub(super) status: String,
    pub(super) position: u64,
    pub(super) eta_seconds: Option<u64>,
    pub(super) expires_at: Option<String>,
}

fn span<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    let text = String::deserialize(deserializer)?;
    parse_span(&text).ok_or_else(|| de::Error::custom("not a span"))
}

fn moment<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Timestamp, D::Error> {
    let text = String::deserialize(deserializer)?;
    text.parse().map_err(de::Error::custom)
}
