//! What every handler shares.

use std::{fmt, ops::Deref, sync::Arc};

use axum::Router;
use ropeline_core::{Clock, RoomId, Timestamp};
use ropeline_gate::Gatekeeper;

use super::{business::Owed, login::Logins, router::router};
use crate::BoxOffice;

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
    /// The room that buyers come through.
    pub room: RoomId,
    /// Gives out logins and knows them again.
    pub logins: Logins,
    /// Knows the operators by their key.
    pub operators: Operators,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// How the login travels as a cookie.
    pub cookies: CookieScope,
}

/// Says whether a key is the operators'.
#[derive(Clone)]
pub struct Operators(Arc<dyn Fn(&str) -> bool + Send + Sync>);

impl Operators {
    /// Judges keys by `is_key`, which has to take the same time for all of them.
    pub fn by(is_key: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(is_key))
    }

    pub(crate) fn know(&self, key: &str) -> bool {
        self.0(key)
    }
}

impl fmt::Debug for Operators {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Operators")
    }
}

/// Over which connections a browser sends the login.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CookieScope {
    /// Also over plain HTTP, as on a developer's machine.
    Plain,
    /// Over HTTPS only.
    Secure,
}

impl Service {
    /// Puts the parts together.
    pub fn new(parts: Parts) -> Self {
        Self {
            parts: Arc::new(parts),
            owed: Arc::default(),
        }
    }

    /// Every route, ready to be served or merged with others.
    pub fn router(&self) -> Router {
        router(self.clone())
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }
}

impl Deref for Service {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.parts
    }
}
