//! What all visitors share: the record, and the ways to the nodes.

use std::{
    net::SocketAddr,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use reqwest::{Client, RequestBuilder, redirect};
use ropeline_testing::{
    history::{At, Question, Record, Recorder},
    http::Reply,
};
use tokio::sync::Semaphore;

use crate::wait::any_of;

/// Whoever gets no answer for so long asks another node.
const ANSWER_MAX: Duration = Duration::from_secs(2);
/// A node that did not answer is left alone for so long.
const AVOIDED_FOR: Duration = Duration::from_secs(1);
/// More visitors than this do not ask one node at once.
const CONNECTIONS_MAX: usize = 64;
const CONNECTION_WITHIN: Duration = Duration::from_millis(200);

pub(crate) struct Crowd {
    pub(crate) recorder: Recorder,
    /// After this, everybody stays where they are.
    pub(crate) over_at: At,
    client: Client,
    ways: Vec<Way>,
}

/// The way to a node.
struct Way {
    address: SocketAddr,
    connections: Semaphore,
    /// Until when nobody goes there who has a choice, in milliseconds of the run.
    avoided_until_ms: AtomicU64,
}

impl Crowd {
    pub(crate) fn new(recorder: Recorder, nodes: &[SocketAddr], over_at: At) -> Self {
        // Fails only when one is installed already, which then serves as well.
        rustls::crypto::ring::default_provider()
            .install_default()
            .ok();
        let client = Client::builder()
            .timeout(ANSWER_MAX)
            .redirect(redirect::Policy::none())
            .tls_certs_only([])
            .build();
        let ways = nodes.iter().map(|address| Way {
            address: *address,
            connections: Semaphore::new(CONNECTIONS_MAX),
            avoided_until_ms: AtomicU64::new(0),
        });
        Self {
            recorder,
            over_at,
            client: client.expect("a client without any certificates"),
            ways: ways.collect(),
        }
    }

    /// A node that answers, as far as is known; any, if none is known to.
    pub(crate) fn pick(&self) -> usize {
        let now = millis(self.recorder.now());
        let open = |way: &Way| way.avoided_until_ms.load(Ordering::Relaxed) <= now;
        let mut choice: Vec<_> = (0..self.ways.len())
            .filter(|node| open(&self.ways[*node]))
            .collect();
        if choice.is_empty() {
            choice = (0..self.ways.len()).collect();
        }
        let any = any_of(0..=choice.len() as u64 - 1);
        choice[usize::try_from(any).expect("an index")]
    }

    /// Asks a node; `None` if it does not answer, or there is too great a crowd before it.
    pub(crate) async fn ask(
        &self,
        question: Question,
        request: impl FnOnce(&Client, String) -> RequestBuilder,
    ) -> Option<(Record, Reply)> {
        let way = &self.ways[question.node];
        let connection = tokio::time::timeout(CONNECTION_WITHIN, way.connections.acquire());
        let Ok(Ok(_connection)) = connection.await else {
            return None;
        };
        let request = request(&self.client, format!("http://{}", way.address));
        let asked = self.recorder.asks(question);
        if let Some(reply) = answer(request).await {
            let record = self.recorder.answered(asked, &reply);
            return Some((record, reply));
        }
        self.recorder.unanswered(asked);
        let until = millis(self.recorder.now() + AVOIDED_FOR);
        way.avoided_until_ms.store(until, Ordering::Relaxed);
        None
    }
}

/// The whole answer; without it nobody knows whether the node has done what it was asked.
async fn answer(request: RequestBuilder) -> Option<Reply> {
    let response = request.send().await.ok()?;
    let status = response.status().as_u16();
    let headers = response.headers().iter().map(|(name, value)| {
        let value = String::from_utf8_lossy(value.as_bytes());
        (name.to_string(), value.into_owned())
    });
    let headers = headers.collect();
    let body = response.bytes().await.ok()?.to_vec();
    Some(Reply {
        status,
        headers,
        body,
    })
}

fn millis(at: At) -> u64 {
    u64::try_from(at.as_millis()).unwrap_or(u64::MAX)
}
