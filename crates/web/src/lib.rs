//! What Ropeline's HTTP services share.
//!
//! A service is an [`axum::Router`] handed to [`Server`]. The server owns everything between the
//! socket and the handler: limits on connections, heads and bodies, request ids, security headers,
//! the check against other sites, and the rule that every failure leaves as an RFC 9457 [`Problem`].

mod acceptor;
mod client;
mod connection;
mod credentials;
mod event_loops;
mod explained;
mod extract;
mod idempotency;
mod kinds;
mod language;
mod limits;
mod moment;
mod occupancy;
pub mod openapi;
pub mod pages;
mod problem;
mod rate;
mod request_id;
mod retry;
mod server;
mod service;
mod tasks;
mod written;

pub use crate::{
    client::{Client, TrustedProxies},
    credentials::{bearer, cookie},
    event_loops::EventLoops,
    explained::{Explained, Words, explain},
    extract::{Json, JsonBody, JsonText, Path, Query, object, read_body},
    idempotency::{IdempotencyKey, InvalidIdempotencyKey},
    kinds::{IDEMPOTENCY_KEY_REUSED, LOGIN_INVALID, LOGIN_REQUIRED, RATE_LIMITED, UNAUTHORIZED},
    language::{Language, Speaking},
    limits::Limits,
    moment::Moment,
    occupancy::OpenConnections,
    problem::{
        CATALOGUE, CROSS_SITE, FieldError, INTERNAL, INVALID_REQUEST, Kind, METHOD_NOT_ALLOWED,
        MISDIRECTED_REQUEST, NOT_FOUND, Problem,
    },
    rate::{KeyRefused, RateLimits, Rates, RetryAfter},
    request_id::RequestId,
    retry::retry_soon,
    server::{Bound, Report, Server, bind, listen},
    service::{
        Hosts, NotCrossSite, Observe, Shortcut, Shortly, Verbatim, is_from_another_site,
        is_get_from_another_site,
    },
    tasks::Tasks,
    written::{Plain, WriteJson},
};
