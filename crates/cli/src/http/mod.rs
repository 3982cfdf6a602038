//! Asking a Ropeline server over HTTP.

mod admin;
mod answer;
mod base;
mod error;

use std::{sync::Arc, time::Duration};

use reqwest::{Client, Method, RequestBuilder, redirect};
use tokio::sync::Semaphore;

pub(crate) use self::{
    admin::{KeyDirectory, admin_key, as_operator},
    answer::Answer,
    base::BaseUrl,
    error::HttpError,
};

/// The server keeps a connection for longer, so that a request never meets a connection that is being
/// closed there.
const IDLE: Duration = Duration::from_secs(30);
/// As long as a person would look at a page that does not load.
const CONNECT_MAX: Duration = Duration::from_secs(5);

/// A server, and at most so many connections to it.
#[derive(Debug, Clone)]
pub(crate) struct Http {
    client: Client,
    base: BaseUrl,
    connections: Arc<Semaphore>,
}

/// How patient, and on how many connections.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    pub(crate) answer_max: Duration,
    pub(crate) connections_max: usize,
}

impl Http {
    pub(crate) fn new(base: BaseUrl, bounds: Bounds) -> Result<Self, HttpError> {
        // Fails only when one is installed already, which then serves as well.
        rustls::crypto::ring::default_provider()
            .install_default()
            .ok();
        let mut builder = Client::builder()
            .timeout(bounds.answer_max)
            .connect_timeout(CONNECT_MAX.min(bounds.answer_max))
            .pool_idle_timeout(IDLE)
            .pool_max_idle_per_host(bounds.connections_max)
            .redirect(redirect::Policy::none())
            .user_agent(concat!("ropeline/", env!("CARGO_PKG_VERSION")));
        if !base.is_https() {
            // Small container images have no certificates, and without TLS none are needed.
            builder = builder.tls_certs_only([]);
        }
        let client = builder
            .build()
            .map_err(|error| HttpError::no_client(&error))?;
        let connections = Arc::new(Semaphore::new(bounds.connections_max));
        Ok(Self {
            client,
            base,
            connections,
        })
    }

    pub(crate) fn base(&self) -> &BaseUrl {
        &self.base
    }

    pub(crate) fn get(&self, path: &str) -> RequestBuilder {
        self.request(Method::GET, path)
    }

    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, self.base.join(path))
    }

    /// Sends when a connection is free, and reads the whole answer. An error means that nobody knows whether the
    /// server has done what it was asked.
    pub(crate) async fn send(&self, request: RequestBuilder) -> Result<Answer, HttpError> {
        let permit = self.connections.acquire().await;
        let _permit = permit.expect("the semaphore is never closed");
        let asked = tokio::time::Instant::now();
        let lost = |error| HttpError::lost(&self.base, &error);
        let response = request.send().await.map_err(lost)?;
        Answer::read(response, asked).await.map_err(lost)
    }
}
