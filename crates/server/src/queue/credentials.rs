//! The queue token of a request, wherever it travels.

use axum::extract::FromRequestParts;
use http::{HeaderMap, HeaderName, Uri, header::COOKIE, request::Parts};
use ropeline_core::{Claims, Ending, Ordinal, RoomId, Timestamp};
use ropeline_gate::header_token;
use ropeline_store::{Seen, StoreError};
use ropeline_web::{Problem, Query};
use serde::Deserialize;

use super::catch_up::{catch_up, is_plausible};
use crate::{app::App, error::ApiError};

pub(super) const X_QUEUE_VERSION: HeaderName = HeaderName::from_static("x-queue-version");
const X_QUEUE_AHEAD: HeaderName = HeaderName::from_static("x-queue-ahead");

/// Who asks: the token from `X-Queue-Token`, else from the seed's plain `token`, else from the cookie of the
/// room that `?room=` names.
#[derive(Debug)]
pub(crate) struct Asking {
    /// The room that the query names.
    pub(crate) room: Option<RoomId>,
    /// The token as it came.
    pub(crate) token: Option<String>,
    /// The highest version that the client has seen.
    version: Option<u64>,
    /// What the client was last shown.
    shown: Option<Shown>,
    /// When it came, by this node's clock.
    asked_at: Timestamp,
}

#[derive(Deserialize)]
struct RoomQuery {
    room: Option<RoomId>,
}

impl FromRequestParts<App> for Asking {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        Self::of(app, &parts.uri, &parts.headers)
    }
}

impl Asking {
    /// Who asks with this request.
    pub(crate) fn of(app: &App, uri: &Uri, headers: &HeaderMap) -> Result<Self, Problem> {
        let room = match uri.query() {
            None => None,
            Some(_) => Query::<RoomQuery>::of(uri)?.0.room,
        };
        let token = header_token(headers).or_else(|| {
            let room = room.as_ref().map_or("main", RoomId::as_str);
            app.cookies.find(headers.get_all(COOKIE), room)
        });
        Ok(Self {
            token: token.map(str::to_owned),
            room,
            version: text(headers, &X_QUEUE_VERSION).and_then(|text| text.parse().ok()),
            shown: text(headers, &X_QUEUE_AHEAD).and_then(Shown::read),
            asked_at: app.now(),
        })
    }

    /// Who asks for a page of a room: pages have no headers to send, only the cookie.
    pub(crate) fn by_cookie(app: &App, room: RoomId, headers: &HeaderMap) -> Self {
        let token = app.cookies.find(headers.get_all(COOKIE), room.as_str());
        Self::in_room(app, room, token)
    }

    /// Who has this token for a room, as somebody says who has seen no picture of it.
    pub(crate) fn in_room(app: &App, room: RoomId, token: Option<&str>) -> Self {
        Self {
            token: token.map(str::to_owned),
            room: Some(room),
            version: None,
            shown: None,
            asked_at: app.now(),
        }
    }

    /// What a genuine token says, and the picture of its room, at least as new as what the client has
    /// seen; refused if the query names another room, or if the room was deleted since.
    pub(crate) async fn claims(&self, app: &App) -> Result<(Claims, Seen), ApiError> {
        let (claims, mut seen) = self.signed(app)?;
        if self.has_seen_newer(&seen) {
            let is_enough = |seen: &Seen| !self.has_seen_newer(seen);
            seen = catch_up(app, &claims, is_enough).await?;
        }
        check_epoch(&claims, &seen)?;
        Ok((claims, seen))
    }

    /// As [`Asking::claims`], if the picture at hand is new enough.
    pub(crate) fn claims_at_once(&self, app: &App) -> Result<Option<(Claims, Seen)>, ApiError> {
        let (claims, seen) = self.signed(app)?;
        if self.has_seen_newer(&seen) {
            return Ok(None);
        }
        check_epoch(&claims, &seen)?;
        Ok(Some((claims, seen)))
    }

    /// What a genuine token says, and the picture of its room as it is at hand.
    fn signed(&self, app: &App) -> Result<(Claims, Seen), ApiError> {
        let token = self.token.as_deref().ok_or(ApiError::TokenInvalid)?;
        let claims = verified(app, token, self.asked_at)?;
        if self.room.as_ref().is_some_and(|room| *room != claims.aud) {
            return Err(ApiError::TokenInvalid);
        }
        let seen = app.seen(&claims.aud)?;
        Ok((claims, seen))
    }

    /// Refuses to show a client less than it has seen: where the picture could not be made newer, another node may
    /// have shown a newer one before the store went away, beside which the client would fall back in this one.
    pub(crate) fn check_not_older(&self, seen: &Seen) -> Result<(), ApiError> {
        let could_refresh = seen.fresh_at >= self.asked_at;
        if could_refresh || !self.has_seen_newer(seen) {
            return Ok(());
        }
        let reason = "this node has not heard yet of what another one has shown";
        Err(StoreError::Unavailable(reason.into()).into())
    }

    /// Who shows a token that we have signed for this room, whatever has become of the place.
    pub(crate) fn genuine(&self, app: &App) -> Option<Claims> {
        let claims = verified(app, self.token.as_deref()?, self.asked_at).ok()?;
        let room = self.room.as_ref();
        room.is_none_or(|room| *room == claims.aud)
            .then_some(claims)
    }

    /// How many the client was last shown ahead of this place. It is shown no more than that.
    pub(super) fn ahead_shown(&self, claims: &Claims) -> Option<u64> {
        let shown = self.shown.filter(|shown| shown.ordinal == claims.ord);
        shown.map(|shown| shown.ahead)
    }

    /// Whether another node may have shown the client a newer picture than this. One that still held after the
    /// client asked is as new as any that it can have seen.
    fn has_seen_newer(&self, seen: &Seen) -> bool {
        self.version.is_some_and(|version| {
            version > seen.view.header.version
                && seen.fresh_at <= self.asked_at
                && is_plausible(version, seen, self.asked_at)
        })
    }
}

/// How many a client was shown ahead of a place, as `X-Queue-Ahead` has it: `7;ordinal=1208`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Shown {
    ahead: u64,
    ordinal: Ordinal,
}

impl Shown {
    fn read(text: &str) -> Option<Self> {
        let (ahead, ordinal) = text.split_once(";ordinal=")?;
        Some(Self {
            ahead: ahead.parse().ok()?,
            ordinal: Ordinal(ordinal.parse().ok()?),
        })
    }
}

/// A header as text. One that cannot be read is as good as none: nobody loses a place over it.
fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

/// Refuses a token of a room that was deleted since.
fn check_epoch(claims: &Claims, seen: &Seen) -> Result<(), ApiError> {
    if seen.view.header.voids(claims.epoch) {
        return Err(ApiError::TokenEnded(Ending::Gone, None));
    }
    Ok(())
}

pub(crate) fn verified(app: &App, token: &str, now: Timestamp) -> Result<Claims, ApiError> {
    app.keys
        .load()
        .verify(token, now)
        .map_err(|_| ApiError::TokenInvalid)
}
