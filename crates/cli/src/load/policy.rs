//! What the server says about the room, to who has the admin key.

use std::time::Duration;

use ropeline_core::RoomId;
use ropeline_server::config::parse_span;
use serde_json::Value;

use crate::http::{Http, as_operator};

/// The parts of a policy that the crowd's figures are compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RoomPolicy {
    pub(crate) every: Duration,
    pub(crate) batch: Option<u64>,
    pub(crate) active_max: Option<u64>,
}

impl RoomPolicy {
    /// `None` without a key, or if the server does not tell.
    pub(crate) async fn ask(http: &Http, room: &RoomId, key: Option<&str>) -> Option<Self> {
        let request = http.get(&format!("/api/v1/admin/rooms/{room}"));
        let answer = http.send(as_operator(request, key?)).await.ok()?;
        Self::read(&answer.json()?["policy"])
    }

    fn read(policy: &Value) -> Option<Self> {
        Some(Self {
            every: parse_span(policy["every"].as_str()?)?,
            batch: policy["batch"].as_u64(),
            active_max: policy["activeMax"].as_u64(),
        })
    }
}
