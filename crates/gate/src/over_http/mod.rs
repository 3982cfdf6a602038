//! A gatekeeper that asks a Ropeline server over HTTP.

mod address;
mod answer;

use std::{fmt, time::Duration};

use async_trait::async_trait;
use http::{HeaderValue, header::AUTHORIZATION};
use reqwest::{Client, Method, RequestBuilder, redirect};
use ropeline_core::{Holder, RoomId, UserId};
use ropeline_web::retry_soon;
use serde_json::{Value, json};
use thiserror::Error;
use tokio::time::timeout;

use self::{address::Address, answer::Answer};
use crate::{Decision, GateError, Gatekeeper, Refusal, Ticket, trouble::Trouble};

/// The server keeps a connection for longer, so that a request seldom meets one that is being closed there.
const IDLE: Duration = Duration::from_secs(30);
/// A token of ours has about 300; what is longer need not travel to be refused.
const TOKEN_BYTES_MAX: usize = 4_096;

/// Asks a Ropeline server's service API. Connections are kept and shared; clone an `Arc` of it, not it.
pub struct HttpGatekeeper {
    client: Client,
    address: Address,
    key: HeaderValue,
    answer_max: Duration,
    trouble: Trouble,
}

/// How a server is asked.
#[derive(Debug, Clone, Copy)]
pub struct HttpOptions {
    /// A call has this long from beginning to end, with connecting and reading the answer.
    pub answer_max: Duration,
}

impl Default for HttpOptions {
    fn default() -> Self {
        Self {
            answer_max: Duration::from_secs(2),
        }
    }
}

/// Why a server cannot be asked at all.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum HttpSetupError {
    /// The address is not one of a server.
    #[error("the address of the waiting room {0}")]
    Address(&'static str),
    /// The key cannot travel in a header.
    #[error("the service key must be 1 or more visible ASCII characters")]
    Key,
    /// TLS does not work here.
    #[error("cannot speak https: {0}")]
    Tls(Box<str>),
}

/// Whether a call may be made again when its connection broke and nobody knows whether it was done.
#[derive(Clone, Copy)]
enum Again {
    Once,
    Never,
}

impl HttpGatekeeper {
    /// Asks the server at `url` (`http://127.0.0.1:8080`), which knows this service by its key.
    pub fn new(url: &str, service_key: &str, options: HttpOptions) -> Result<Self, HttpSetupError> {
        let address = Address::parse(url).map_err(HttpSetupError::Address)?;
        Ok(Self {
            client: client(&address, options)?,
            address,
            key: bearer(service_key)?,
            answer_max: options.answer_max,
            trouble: Trouble::default(),
        })
    }

    fn request(&self, method: Method, room: &RoomId, what: &str) -> RequestBuilder {
        let url = self.address.of_room(room, what);
        let request = self.client.request(method, url);
        request.header(AUTHORIZATION, self.key.clone())
    }

    fn post(&self, room: &RoomId, what: &str, body: &Value) -> RequestBuilder {
        self.request(Method::POST, room, what).json(body)
    }

    /// Sends, and reads the whole answer, within the time that a call has.
    async fn send(&self, request: RequestBuilder, again: Again) -> Result<Answer, GateError> {
        let cause = match timeout(self.answer_max, attempt(request, again)).await {
            Ok(Ok(answer)) => return Ok(answer),
            Ok(Err(cause)) => cause,
            Err(_) => "no answer in time".to_owned(),
        };
        if let Some(times) = self.trouble.met() {
            tracing::warn!(address = %self.address, cause, times, "the waiting room does not answer");
        }
        Err(GateError::Away(retry_soon()))
    }
}

/// A connection that the server closed just as it was used costs nothing where the call may be made twice.
async fn attempt(request: RequestBuilder, again: Again) -> Result<Answer, String> {
    let second = match again {
        Again::Once => request.try_clone(),
        Again::Never => None,
    };
    let response = match (request.send().await, second) {
        (Err(error), Some(second)) if error.is_request() && !error.is_connect() => {
            second.send().await
        }
        (response, _) => response,
    };
    Answer::read(response.map_err(|error| deepest(&error))?).await
}

#[async_trait]
impl Gatekeeper for HttpGatekeeper {
    async fn verify(&self, room: &RoomId, token: &str) -> Result<Decision, GateError> {
        let Some(token) = header(token) else {
            return Ok(Decision::Refuse(Refusal::Invalid));
        };
        let request = self.request(Method::POST, room, "verify");
        let request = request.header("x-queue-token", token);
        self.send(request, Again::Once).await?.decision(room)
    }

    async fn join(&self, room: &RoomId, user: Option<&UserId>) -> Result<Ticket, GateError> {
        let (body, again) = match user {
            Some(user) => (json!({"userId": user.as_str()}), Again::Once),
            // A second one would take a second place.
            None => (json!({}), Again::Never),
        };
        let request = self.post(room, "tokens", &body);
        self.send(request, again).await?.ticket(room)
    }

    async fn keep(
        &self,
        room: &RoomId,
        holder: &Holder,
        business: Duration,
    ) -> Result<(), GateError> {
        let mut body = of_holder(holder);
        let milliseconds = u64::try_from(business.as_millis()).unwrap_or(u64::MAX);
        body["milliseconds"] = milliseconds.into();
        let request = self.post(room, "keep", &body);
        self.send(request, Again::Once).await?.done()
    }

    async fn finish(&self, room: &RoomId, holder: &Holder) -> Result<(), GateError> {
        let request = self.post(room, "finish", &of_holder(holder));
        self.send(request, Again::Once).await?.done()
    }

    async fn ready(&self, room: &RoomId) -> Result<(), GateError> {
        let request = self.request(Method::GET, room, "ready");
        self.send(request, Again::Once).await?.done()
    }

    async fn stock(&self, room: &RoomId, left: Option<u64>) -> Result<(), GateError> {
        let request = self.request(Method::PUT, room, "stock");
        let request = request.json(&json!({"left": left}));
        self.send(request, Again::Once).await?.done()
    }
}

fn client(address: &Address, options: HttpOptions) -> Result<Client, HttpSetupError> {
    // Fails only when one is installed already, which then serves as well.
    rustls::crypto::ring::default_provider()
        .install_default()
        .ok();
    let mut builder = Client::builder()
        .connect_timeout(options.answer_max)
        .pool_idle_timeout(IDLE)
        .redirect(redirect::Policy::none())
        // The key is for the room, not for a proxy that the environment happens to name.
        .no_proxy()
        .user_agent(concat!("ropeline-gate/", env!("CARGO_PKG_VERSION")));
    if !address.is_https() {
        // Small container images have no certificates, and without TLS none are needed.
        builder = builder.tls_certs_only([]);
    }
    let built = builder.build();
    built.map_err(|error| HttpSetupError::Tls(deepest(&error).into()))
}

fn bearer(key: &str) -> Result<HeaderValue, HttpSetupError> {
    let visible = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_graphic());
    let value = visible.then(|| HeaderValue::try_from(format!("Bearer {key}")).ok());
    let mut value = value.flatten().ok_or(HttpSetupError::Key)?;
    value.set_sensitive(true);
    Ok(value)
}

fn header(token: &str) -> Option<HeaderValue> {
    let fits = (1..=TOKEN_BYTES_MAX).contains(&token.len());
    let visible = token.bytes().all(|byte| byte.is_ascii_graphic());
    let mut value = (fits && visible).then(|| HeaderValue::from_str(token).ok())??;
    value.set_sensitive(true);
    Some(value)
}

fn of_holder(holder: &Holder) -> Value {
    json!({"visitor": holder.visitor.as_str(), "ordinal": holder.ordinal.0})
}

/// The outer errors only say that something inside them went wrong.
fn deepest(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}

impl fmt::Debug for HttpGatekeeper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpGatekeeper")
            .field("address", &self.address.to_string())
            .finish_non_exhaustive()
    }
}
