//! What every handler shares.

use std::{fmt, ops::Deref, sync::Arc};

use axum::Router;
use ropeline_core::{Clock, RoomId, Timestamp};
use ropeline_gate::{Cookies, Gate, Gatekeeper};
use ropeline_web::{Client, Rates, RetryAfter, TrustedProxies};

use super::{business::Owed, login::Logins, router::router};
use crate::{
    BoxOffice,
    pages::{BOOK, BOOK_ALONE},
};

/// The box office as a service, cheap to clone.
#[derive(Debug, Clone)]
pub struct Service {
    parts: Arc<Parts>,
    /// Whose passes the room has to be told of.
    pub(super) owed: Arc<Owed>,
}

/// What the service is made of.
#[derive(Debug)]
pub struct Parts {
    /// Sells the seats.
    pub office: BoxOffice,
    /// Knows the waiting room.
    pub gatekeeper: Arc<dyn Gatekeeper>,
    /// Stands before the dates and seats, at the door of the same room.
    pub gate: Gate,
    /// The room that buyers come through.
    pub room: RoomId,
    /// Gives out logins and knows them again.
    pub logins: Logins,
    /// Knows the operators by their key.
    pub operators: Operators,
    /// The clock of this process. Logins end by it, and on SQLite holds too; PostgreSQL has its own.
    pub clock: Arc<dyn Clock>,
    /// How the login travels as a cookie.
    pub cookies: Cookies,
    /// Counts users, requests of operators and wrong keys for each address. The server of the rooms shares its own, so
    /// that an address has one limit for both.
    pub rates: Arc<Rates>,
    /// The host by which visitors reach the box office, if the operator has said it.
    pub host: Option<String>,
    /// Proxies that are believed about whom they forward for.
    pub trusted_proxies: TrustedProxies,
}

/// Tells operators from others.
#[derive(Clone)]
pub struct Operators(Option<IsKey>);

type IsKey = Arc<dyn Fn(&str) -> bool + Send + Sync>;

impl Operators {
    /// By a key behind `Authorization: Bearer`. `is_key` has to take the same time for all keys.
    pub fn by_key(is_key: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(is_key)))
    }

    /// By whoever stands before this service and lets nobody else through to `/api/v1/admin/`, as the server of
    /// the rooms does for a service beside them.
    pub fn told_apart_before() -> Self {
        Self(None)
    }

    /// What compares keys, unless somebody else did so before.
    pub(super) fn is_key(&self) -> Option<&dyn Fn(&str) -> bool> {
        let is_key = self.0.as_deref()?;
        Some(is_key)
    }
}

impl fmt::Debug for Operators {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Operators")
    }
}

impl Service {
    /// Puts the parts together.
    pub fn new(parts: Parts) -> Self {
        Self {
            parts: Arc::new(parts),
            owed: Arc::default(),
        }
    }

    /// Every route, ready to be merged with those of the rooms.
    pub fn router(&self) -> Router {
        router(self.clone(), &BOOK)
    }

    /// The same where no rooms are served.
    pub(super) fn router_alone(&self) -> Router {
        router(self.clone(), &BOOK_ALONE)
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Counts a join for the address of a request. A new user counts as one, since they have a place in line for the
    /// asking.
    pub(crate) fn count_join(&self, client: Client) -> Result<(), RetryAfter> {
        self.rates.join(client, self.now())
    }
}

impl Deref for Service {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.parts
    }
}
