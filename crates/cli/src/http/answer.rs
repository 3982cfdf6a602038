//! What a server answered.

use std::{fmt, time::Duration};

use reqwest::{Response, StatusCode, header::RETRY_AFTER};
use serde::Deserialize;
use serde_json::Value;
use tokio::time::Instant;

/// An answer that was read to its end.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    /// When to ask again, if the server said so.
    pub(crate) retry_after: Option<Duration>,
    /// `X-Queue-Version`, if the server said so.
    pub(crate) version: Option<u64>,
    pub(crate) body: Vec<u8>,
    /// Just before the request was sent.
    pub(crate) asked: Instant,
    /// Just after the last byte of the answer.
    pub(crate) answered: Instant,
}

/// An RFC 9457 problem, as every failure of a Ropeline server is told.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Problem {
    pub(crate) code: String,
    pub(crate) title: String,
    #[serde(default)]
    pub(crate) detail: Option<String>,
}

impl Answer {
    pub(super) async fn read(response: Response, asked: Instant) -> reqwest::Result<Self> {
        let status = response.status();
        let number = |name: &str| response.headers().get(name)?.to_str().ok()?.parse().ok();
        let (retry_after, version) = (number(RETRY_AFTER.as_str()), number("x-queue-version"));
        let body = response.bytes().await?.to_vec();
        Ok(Self {
            status,
            retry_after: retry_after.map(Duration::from_secs),
            version,
            body,
            asked,
            answered: Instant::now(),
        })
    }

    /// The body, if it is JSON.
    pub(crate) fn json(&self) -> Option<Value> {
        serde_json::from_slice(&self.body).ok()
    }

    /// The problem, if it is one.
    pub(crate) fn problem(&self) -> Option<Problem> {
        serde_json::from_slice(&self.body).ok()
    }

    /// The status and the problem's code, as in `401 TOKEN_EXPIRED`.
    pub(crate) fn summary(&self) -> String {
        match self.problem() {
            Some(problem) => format!("{} {}", self.status.as_u16(), problem.code),
            None => self.status.as_u16().to_string(),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.detail.as_deref().unwrap_or(&self.title);
        write!(f, "{text} ({})", self.code)
    }
}
