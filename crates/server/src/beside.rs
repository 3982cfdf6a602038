//! A service that is answered by the same server as the rooms.

use std::fmt;

use axum::{
    Router,
    extract::{Request, State},
    middleware::{Next, from_fn_with_state},
    response::Response,
};
use http::Method;
use ropeline_web::{Client, Explained};
use utoipa::openapi::OpenApi;

use crate::{app::App, error::ApiError, login::Logins, openapi};

/// A service beside the rooms, on the same address.
///
/// Its router has the page at `/`; that of the rooms is at `/rooms` then. Of paths and shapes that are described on
/// both sides, and codes that are explained on both, the room's are shown.
pub struct Beside {
    /// What it answers. None of its paths may be one of the rooms', and it has no fallback of its own.
    pub router: Router,
    /// Its part of `/openapi.json` and `/docs`.
    pub openapi: OpenApi,
    /// Its part of `/problems/{code}`.
    pub explained: &'static [Explained],
    /// Its logins, which the rooms believe where the operator names no other.
    pub login: Option<SharedLogin>,
    /// Whether a request of this method and path is counted for its address as a join is: it gives a place in line, or
    /// makes a new user, who gets one for the asking.
    pub counts_as_join: CountsAsJoin,
}

/// Judges a request by its method and path.
pub type CountsAsJoin = fn(&Method, &str) -> bool;

/// Logins that a service of the same process signs with HS256.
#[derive(Clone)]
pub struct SharedLogin {
    /// The key.
    pub secret: [u8; 32],
    /// What `iss` must be.
    pub issuer: String,
    /// What `aud` must be or contain.
    pub audience: String,
}

impl fmt::Debug for Beside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Beside")
            .field("router", &self.router)
            .field("login", &self.login)
            .finish_non_exhaustive()
    }
}

/// Never prints the key.
impl fmt::Debug for SharedLogin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedLogin")
            .field("issuer", &self.issuer)
            .field("audience", &self.audience)
            .finish_non_exhaustive()
    }
}

/// What the rooms' own routes know of the service beside them.
#[derive(Debug)]
pub(crate) struct Neighbour {
    /// `/openapi.json` of both.
    pub(crate) document: Vec<u8>,
    pub(crate) explained: &'static [Explained],
}

impl Beside {
    /// Makes itself known to the rooms, and gives its router.
    pub(crate) fn move_in(self, app: &App) -> Router {
        let Self {
            router,
            openapi,
            explained,
            login,
            counts_as_join,
        } = self;
        if let Some(login) = login {
            app.believe(Logins::shared(&login));
        }
        app.meet(Neighbour {
            document: openapi::document_with(openapi, explained),
            explained,
        });
        router.layer(from_fn_with_state(
            (app.clone(), counts_as_join),
            count_joins,
        ))
    }
}

async fn count_joins(
    State((app, counts_as_join)): State<(App, CountsAsJoin)>,
    request: Request,
    next: Next,
) -> Result<Response, ApiError> {
    if !counts_as_join(request.method(), request.uri().path()) {
        return Ok(next.run(request).await);
    }
    let (parts, body) = request.into_parts();
    let client = Client::of(&parts, &app.trusted_proxies);
    app.rates.join(client, app.now())?;
    Ok(next.run(Request::from_parts(parts, body)).await)
}
