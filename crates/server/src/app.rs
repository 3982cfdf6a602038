//! What every handler shares.

use std::{
    convert::Infallible,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
};

use arc_swap::{ArcSwap, ArcSwapOption};
use axum::extract::FromRequestParts;
use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD as BASE64};
use http::request;
use ropeline_core::{Claims, FieldError, Pass, Policy, RoomId, Timestamp};
use ropeline_gate::Cookies;
use ropeline_store::{Clock, Seen, Store};
use ropeline_web::{Client, KeyRefused, Rates, RetryAfter, TrustedProxies};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::{
    admin::{Histories, Sessions},
    audit::{Audit, Proof},
    beside::Neighbour,
    config::{PublicUrl, VerifiedUsers, check_identity},
    error::ApiError,
    login::Logins,
    metrics::Metrics,
    pages::ReturnRule,
    queue::{CatchUps, LastPasses, Outage},
    token::KeyRing,
};

/// The server's parts, cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct App(Arc<Parts>);

#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: Arc<dyn Clock>,
    /// Replaced as a whole when the keys are rotated.
    pub(crate) keys: Arc<ArcSwap<KeyRing>>,
    /// Replaced as a whole when their key file changes; none where no key is given and no service beside the rooms has
    /// brought one.
    pub(crate) logins: OnceLock<Arc<ArcSwap<Logins>>>,
    /// Replaced when the settings are reloaded.
    pub(crate) admin_key: Arc<ArcSwap<KeyDigest>>,
    /// None where no service is believed.
    pub(crate) service_key: ArcSwapOption<KeyDigest>,
    pub(crate) sessions: Sessions,
    pub(crate) audit: Audit,
    pub(crate) histories: Histories,
    /// What a new room has where its maker says nothing.
    pub(crate) shipped_policy: Policy,
    pub(crate) token_ttl_s: u64,
    pub(crate) cookies: Cookies,
    pub(crate) trusted_proxies: TrustedProxies,
    pub(crate) rates: Arc<Rates>,
    /// Where visitors see this server, if the operator said so.
    pub(crate) public_url: Option<PublicUrl>,
    /// When clients have made this node ask the store for a newer picture.
    pub(crate) catch_ups: CatchUps,
    /// Where the waiting page may send people.
    pub(crate) returns: ReturnRule,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) draining: AtomicBool,
    /// What the gate does while the store is away.
    pub(crate) outage: Outage,
    /// The service that is answered beside the rooms, if there is one.
    pub(crate) neighbour: OnceLock<Neighbour>,
    /// Kept where the store is not this process's own, and may be away while people are inside.
    pub(crate) passes: Option<LastPasses>,
}

/// Digest of a key: comparing digests takes the same time for every wrong key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KeyDigest([u8; 32]);

/// Before a digest that is written down.
const DIGEST_KIND: &str = "sha256:";

impl KeyDigest {
    pub(crate) fn of(key: &str) -> Self {
        Self(Sha256::digest(key).into())
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The digest as nodes share it.
    pub(crate) fn to_text(&self) -> String {
        format!("{DIGEST_KIND}{}", BASE64.encode(self.0))
    }

    /// The digest of such a text.
    pub(crate) fn from_text(text: &str) -> Option<Self> {
        let bytes = BASE64.decode(text.strip_prefix(DIGEST_KIND)?).ok()?;
        bytes.try_into().ok().map(Self)
    }

    pub(crate) fn matches(&self, key: &str) -> bool {
        self.0.ct_eq(&Self::of(key).0).into()
    }
}

impl std::ops::Deref for App {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.0
    }
}

impl App {
    pub(crate) fn new(parts: Parts) -> Self {
        Self(Arc::new(parts))
    }

    /// The time of day.
    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// The picture of a room's line.
    pub(crate) fn seen(&self, room: &RoomId) -> Result<Seen, ApiError> {
        self.store
            .view(room)
            .ok_or_else(|| ApiError::NoSuchRoom(room.clone()))
    }

    /// The pass of a token's place as this node last saw it, if it is still alive by room time.
    pub(crate) fn seen_pass(&self, claims: &Claims, seen: &Seen) -> Option<Pass> {
        let room_now = seen.view.now(self.now());
        self.passes.as_ref()?.alive(claims, room_now)
    }

    /// Up to when a token's place counts as inside while the store is away, if it does.
    pub(crate) fn lease(&self, claims: &Claims, seen: &Seen) -> Option<Timestamp> {
        let place = (&claims.aud, claims.ord);
        self.outage
            .lease(&*self.store, place, &seen.view, self.now())
    }

    /// Takes note of one who was let through the gate without asking the store.
    pub(crate) fn count_unchecked(&self) {
        self.metrics.count_unchecked();
        self.outage.count(&self.store.health());
    }

    /// Whether a room of this policy could know its visitors on this server.
    pub(crate) fn check_identity(&self, policy: &Policy) -> Result<(), FieldError> {
        let users = if self.logins.get().is_some() || self.service_key.load().is_some() {
            VerifiedUsers::Possible
        } else {
            VerifiedUsers::Impossible
        };
        check_identity(policy, users)
    }

    /// Compares a key with the operators', and counts it if it is wrong.
    pub(crate) fn check_admin_key(&self, client: Client, key: &str) -> Result<(), KeyRefused> {
        if self.admin_key.load().matches(key) {
            Ok(())
        } else {
            Err(self.rates.admin_failed(client, self.now()))
        }
    }

    /// Counts a request of an operator, who has shown this. One that is refused is counted in the audit log, too.
    pub(crate) fn count_operator(&self, client: Client, by: Proof) -> Result<(), RetryAfter> {
        let now = self.now();
        let counted = self.rates.admin(client, now);
        if counted.is_err() {
            self.audit.count_limited(now, by, client.address);
        }
        counted
    }

    /// Takes these logins where the operator has named no key for others.
    pub(crate) fn believe(&self, logins: Logins) {
        self.logins
            .get_or_init(|| Arc::new(ArcSwap::from_pointee(logins)));
    }

    /// Learns of the service beside the rooms. There is one at most.
    pub(crate) fn meet(&self, neighbour: Neighbour) {
        self.neighbour.get_or_init(|| neighbour);
    }

    pub(crate) fn start_draining(&self) {
        self.draining.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Relaxed)
    }
}

impl FromRequestParts<App> for Client {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut request::Parts, app: &App) -> Result<Self, Infallible> {
        Ok(Self::of(parts, &app.trusted_proxies))
    }
}
