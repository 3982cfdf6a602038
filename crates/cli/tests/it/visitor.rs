//! What visitors ask.

use ropeline_testing::http::{Ask, Client, Reply};
use serde_json::json;

const TOKENS: &str = "/api/v1/queue/tokens";

/// Where a visitor is told to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) ordinal: u64,
    pub(crate) status: String,
    pub(crate) ahead: u64,
}

impl Place {
    /// The place of an answer, if it has one.
    pub(crate) fn of(reply: &Reply) -> Option<Self> {
        let view = reply.json();
        Some(Self {
            ordinal: view["ordinal"].as_u64()?,
            status: view["status"].as_str()?.to_owned(),
            ahead: view["ahead"].as_u64()?,
        })
    }
}

pub(crate) fn join(user: &str) -> Ask {
    Ask::post(TOKENS).json(&json!({"userId": user}))
}

pub(crate) fn status(token: &str) -> Ask {
    Ask::get("/api/v1/queue/status").token(token)
}

pub(crate) fn verify(token: &str) -> Ask {
    Ask::get("/api/v1/queue/verify").token(token)
}

pub(crate) fn leave(token: &str) -> Ask {
    Ask::delete(TOKENS).token(token)
}

/// The token of an answered join.
#[track_caller]
pub(crate) fn token(reply: &Reply) -> String {
    let token = reply.json()["token"].as_str().map(str::to_owned);
    token.unwrap_or_else(|| panic!("no token in {}", reply.json()))
}

/// Joins as a new user and gives the token.
#[track_caller]
pub(crate) fn token_of(client: &mut Client, user: &str) -> String {
    let reply = client.send(&join(user));
    assert_eq!(reply.status, 201, "{}", reply.json());
    token(&reply)
}
