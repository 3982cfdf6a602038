//! A service that is answered by the same server as the rooms.

use std::fmt;

use axum::Router;
use ropeline_web::Explained;
use utoipa::openapi::OpenApi;

use crate::{app::App, login::Logins, openapi};

/// A service beside the rooms, on the same address.
///
/// Its router has the page at `/`; that of the rooms is at `/rooms` then. Of paths and shapes that are described on
/// both sides, and codes that are explained on both, the room's are shown.
pub struct Beside {
    /// What it answers. None of its paths may be one of the rooms', whose fallback is taken for both.
    pub router: Router,
    /// Its part of `/openapi.json` and `/docs`.
    pub openapi: OpenApi,
    /// Its part of `/problems/{code}`.
    pub explained: &'static [Explained],
    /// Its logins, which the rooms believe where the operator names no other.
    pub login: Option<SharedLogin>,
}

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
        } = self;
        if let Some(login) = login {
            app.believe(Logins::shared(&login));
        }
        app.meet(Neighbour {
            document: openapi::document_with(openapi, explained),
            explained,
        });
        router
    }
}
