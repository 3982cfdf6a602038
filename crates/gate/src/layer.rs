//! The layer and its options.

use std::{fmt, sync::Arc, time::Duration};

use http::request::Parts;
use ropeline_core::{RoomId, UserId};
use tower::Layer;

use crate::{Cookies, Gatekeeper, exempt::Exempt, service::Gated, trouble::Trouble};

/// Nobody looks longer at a page that does not load, and a gatekeeper over HTTP gives up before.
const PATIENCE: Duration = Duration::from_secs(3);

/// Tells the user of a request, whose login something before the gate has verified.
pub(crate) type Users = Arc<dyn Fn(&Parts) -> Option<UserId> + Send + Sync>;

/// A layer that lets nobody through to a service without a live pass of a room.
///
/// The pass is the queue token in `X-Queue-Token`, else in `token`, else in the room's cookie. Who is let through is in
/// the request's extensions as [`Admitted`](crate::Admitted), and the pass is renewed. Everybody else is answered with an
/// RFC 9457 problem that says what to do.
///
/// Put it inside of a layer that answers `OPTIONS` requests of browsers (CORS), which come without credentials.
#[derive(Clone)]
pub struct Gate {
    pub(crate) room: RoomId,
    pub(crate) keeper: Arc<dyn Gatekeeper>,
    pub(crate) missing: Missing,
    pub(crate) users: Option<Users>,
    pub(crate) failure: Failure,
    pub(crate) join_at: Arc<str>,
    pub(crate) cookies: Option<Cookies>,
    pub(crate) patience: Duration,
    /// Shared by every route that the layer is put around.
    pub(crate) trouble: Arc<Trouble>,
    exempt: Vec<Exempt>,
}

/// What the gate does while the room cannot be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Failure {
    /// Nobody is let in: 503 with `Retry-After`.
    #[default]
    Closed,
    /// Everybody who shows a token, or would be issued one, is let in unknown. A crowd that comes just then comes at once.
    Open,
}

/// What becomes of a request without a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Missing {
    Refuse,
    Issue,
}

impl Gate {
    /// A gate of this room, which asks `keeper`. It refuses who has no token, and everybody while it cannot ask.
    pub fn new(room: RoomId, keeper: Arc<dyn Gatekeeper>) -> Self {
        Self {
            join_at: format!("/wait/{room}").into(),
            room,
            keeper,
            missing: Missing::Refuse,
            users: None,
            failure: Failure::default(),
            cookies: None,
            patience: PATIENCE,
            trouble: Arc::default(),
            exempt: Vec::new(),
        }
    }

    /// Lets everybody through to a path (`/healthz`), or to everything below one (`/assets/*`), without asking.
    ///
    /// The path is the one that the gate sees: inside of a nested router it has lost its prefix.
    #[must_use]
    pub fn exempt(mut self, pattern: &str) -> Self {
        self.exempt.push(Exempt::parse(pattern));
        self
    }

    /// Gives who comes without a token a place, and lets them through at once if it is inside.
    ///
    /// The answer then has the token in a cookie and in `X-Queue-Token`. A client that keeps neither takes a new place with
    /// each request; behind this gate belong browsers, and programs that read the answer.
    #[must_use]
    pub fn issue_missing(mut self) -> Self {
        self.missing = Missing::Issue;
        self
    }

    /// How the user of a request is known, for whom a place is issued; `None` is somebody without a name.
    ///
    /// The room believes it and gives that user's place to the caller: take it from a login that was verified before the
    /// gate, never from what the client merely says.
    #[must_use]
    pub fn users(
        mut self,
        user: impl Fn(&Parts) -> Option<UserId> + Send + Sync + 'static,
    ) -> Self {
        self.users = Some(Arc::new(user));
        self
    }

    /// What to do while the room cannot be asked.
    #[must_use]
    pub fn on_failure(mut self, failure: Failure) -> Self {
        self.failure = failure;
        self
    }

    /// Where to join, told in `joinAt`; `/wait/{room}` if not said, which is right on the room's own host.
    #[must_use]
    pub fn join_at(mut self, url: &str) -> Self {
        self.join_at = url.into();
        self
    }

    /// Takes only this kind of cookie. If not said, both are taken, first the one that no other host can set.
    #[must_use]
    pub fn cookies(mut self, cookies: Cookies) -> Self {
        self.cookies = Some(cookies);
        self
    }

    /// How long a request waits for the gatekeeper at most; 3 s if not said.
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    pub(crate) fn exempts(&self, path: &str) -> bool {
        self.exempt.iter().any(|exempt| exempt.covers(path))
    }
}

impl<S> Layer<S> for Gate {
    type Service = Gated<S>;

    fn layer(&self, inner: S) -> Gated<S> {
        Gated::new(Arc::new(self.clone()), inner)
    }
}

impl fmt::Debug for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gate")
            .field("room", &self.room)
            .field("keeper", &self.keeper)
            .field("missing", &self.missing)
            .field("failure", &self.failure)
            .field("exempt", &self.exempt)
            .finish_non_exhaustive()
    }
}
