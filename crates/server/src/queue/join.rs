//! Joining the line, or resuming a place in it.

use std::{borrow::Cow, fmt};

use axum::{
    extract::{FromRequestParts, State},
    response::{IntoResponse, Response},
};
use http::{
    HeaderMap, HeaderValue, StatusCode,
    header::{COOKIE, SET_COOKIE},
    request::Parts,
};
use ropeline_core::{
    Claims, Holder, JoinKey, Joined, Joiner, Live, Ordinal, RoomId, Standing, Timestamp, UserId,
    Visitor,
};
use ropeline_gate::header_token;
use ropeline_store::Seen;
use ropeline_web::{Client, IdempotencyKey, Json};
use serde::{Deserialize, Deserializer, de};
use sha2::{Digest, Sha256};
use utoipa::{
    ToSchema,
    openapi::{ObjectBuilder, OneOfBuilder, RefOr, Schema, Type},
};

use super::{
    bearer,
    caller::Caller,
    credentials::verified,
    place::{Place, PlaceView},
};
use crate::{
    app::App,
    error::ApiError,
    token::{claims_for, random},
};

/// The body of a join.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct JoinRequest {
    /// `main` if left out.
    #[schema(value_type = Option<String>, pattern = "^[a-z0-9-]{1,64}$", example = "main")]
    room: Option<RoomId>,
    /// 1 to 128 printable ASCII characters without space; an integer is taken as its decimal text.
    #[schema(schema_with = user_id_schema)]
    #[serde(default, deserialize_with = "user_id")]
    user_id: Option<UserId>,
}

/// What the headers of a join say beside its body.
#[derive(Debug)]
pub(crate) struct JoinHeaders {
    key: Option<IdempotencyKey>,
    /// The login token.
    bearer: Option<String>,
    /// The same in a cookie, as browsers have it.
    login: Option<String>,
    token: Option<String>,
    /// Which of them matters is known only when the body has named the room.
    cookies: Vec<HeaderValue>,
}

/// Somebody who is answered with a place.
#[derive(Debug)]
pub(crate) struct Holding {
    claims: Claims,
    token: String,
    place: Place,
    seen: Seen,
    /// The time of day at which it was so.
    at: Timestamp,
    status: StatusCode,
}

pub(crate) async fn join(
    State(app): State<App>,
    headers: JoinHeaders,
    Json(request): Json<JoinRequest>,
) -> Result<Response, ApiError> {
    request.answer(&app, &headers).await
}

impl JoinRequest {
    /// What a join is answered with.
    pub(super) async fn answer(
        self,
        app: &App,
        headers: &JoinHeaders,
    ) -> Result<Response, ApiError> {
        let room = self.room.unwrap_or_else(RoomId::main);
        let holding = hold(app, room, self.user_id, headers).await?;
        Ok(holding.answer(app))
    }
}

/// The place of whoever asks: the one in hand if it is live, else a new one.
pub(crate) async fn hold(
    app: &App,
    room: RoomId,
    user: Option<UserId>,
    headers: &JoinHeaders,
) -> Result<Holding, ApiError> {
    let seen = app.seen(&room)?;
    let identity = seen.view.header.policy.identity;
    let caller = Caller::of(app, identity, headers.bearer.as_deref(), user)?;
    let caller = caller.or_by_cookie(app, identity, headers.login.as_deref());
    if let Some(holding) = resume(app, &room, headers, &caller, seen).await? {
        return Ok(holding);
    }
    enter_line(app, room, caller, headers.key.clone()).await
}

/// The place of somebody for whom a service vouches: the one they have, else a new one.
pub(crate) async fn hold_for(
    app: &App,
    room: RoomId,
    user: Option<UserId>,
) -> Result<Holding, ApiError> {
    let identity = app.seen(&room)?.view.header.policy.identity;
    let caller = Caller::vouched_for(identity, user)?;
    enter_line(app, room, caller, None).await
}

/// The place of the token in hand, if it is live and the caller may have it.
async fn resume(
    app: &App,
    room: &RoomId,
    headers: &JoinHeaders,
    caller: &Caller,
    mut seen: Seen,
) -> Result<Option<Holding>, ApiError> {
    let cookie = || app.cookies.find(&headers.cookies, room.as_str());
    let Some(token) = headers.token.as_deref().or_else(cookie) else {
        return Ok(None);
    };
    let Ok(claims) = verified(app, token, app.now()) else {
        return Ok(None);
    };
    let same_room = claims.aud == *room && !seen.view.header.voids(claims.epoch);
    if !caller.may_resume(&claims) || !same_room {
        return Ok(None);
    }
    let place = match Place::of(app, &claims, &mut seen).await {
        Err(ApiError::TokenEnded(..)) => return Ok(None),
        place => place?,
    };
    Ok(Some(Holding {
        claims,
        token: token.to_owned(),
        place,
        seen,
        at: app.now(),
        status: StatusCode::OK,
    }))
}

/// A new place, or the one that this very request was answered with before.
async fn enter_line(
    app: &App,
    room: RoomId,
    caller: Caller,
    key: Option<IdempotencyKey>,
) -> Result<Holding, ApiError> {
    let (joiner, may_resume) = match (caller, key) {
        (Caller::LoggedOut(_), _) => return Err(ApiError::LoginRequired),
        (Caller::Verified(user), key) => (named(Visitor::verified(&user), key), true),
        (Caller::Named(user), key) => (named(Visitor::stated(&user), key), false),
        // The visitor's name comes from the key, so whoever has the key has the place.
        (Caller::Unnamed, Some(key)) => {
            let visitor = app.keys.load().visitor_of_key(room.as_str(), key.as_str());
            (Joiner { visitor, key: None }, true)
        }
        (Caller::Unnamed, None) => {
            let visitor = Visitor::anonymous(u128::from_ne_bytes(random()));
            (Joiner { visitor, key: None }, false)
        }
    };
    let visitor = joiner.visitor.clone();
    let (joined, standing) = app.store.join(&room, joiner).await?;
    let (ordinal, status) = match joined {
        Joined::New(ordinal) | Joined::Claimed(ordinal) => (ordinal, StatusCode::CREATED),
        Joined::Repeated(ordinal) => (ordinal, StatusCode::OK),
        Joined::Already(ordinal) if may_resume => (ordinal, StatusCode::OK),
        // A key is stored with its visitor, so nobody reuses another's.
        Joined::Already(_) | Joined::KeyReused => return Err(ApiError::Duplicated),
        Joined::Closed => return Err(ApiError::RoomClosed),
        Joined::Full => return Err(ApiError::RoomFull),
    };
    let (mut seen, at) = (app.seen(&room)?, app.now());
    let now_s = at.0 / 1_000;
    let epoch = seen.view.header.epoch;
    let holder = Holder { visitor, ordinal };
    let claims = claims_for(room, epoch, holder, now_s..now_s + app.token_ttl_s);
    let (place, at) = match status {
        StatusCode::OK => {
            // Boxed, since few come this way, and everybody who joins would carry it.
            let place = Box::pin(place_resumed(app, &claims, standing, &mut seen)).await?;
            (place, app.now())
        }
        _ => (place_after_join(standing, &seen, ordinal)?, at),
    };
    place.remember(app, &claims, &seen);
    Ok(Holding {
        token: app.keys.load().sign(&claims),
        claims,
        place,
        seen,
        at,
        status,
    })
}

/// Who asks for the place that they have is there, as one is who asks where it is: in line they are not stepped over,
/// and after a missed turn they are at the door.
async fn place_resumed(
    app: &App,
    claims: &Claims,
    standing: Standing,
    seen: &mut Seen,
) -> Result<Place, ApiError> {
    if let Standing::Live(Live::Inside(pass)) = standing {
        return Ok(Place::Inside(pass));
    }
    match Place::of(app, claims, seen).await {
        Ok(place) => Ok(place),
        Err(_) => place_after_join(standing, seen, claims.ord),
    }
}

/// A pass that ended between the join and now is told by the next status, not by the join.
fn place_after_join(standing: Standing, seen: &Seen, ordinal: Ordinal) -> Result<Place, ApiError> {
    match standing {
        Standing::Ended(_) => Ok(Place::AtDoor { before: None }),
        standing => Place::standing(standing, &seen.view, ordinal),
    }
}

impl Holding {
    /// What a join is answered with.
    pub(crate) fn answer(&self, app: &App) -> Response {
        let mut answer = self.view().json().into_response();
        *answer.status_mut() = self.status;
        answer.headers_mut().insert(SET_COOKIE, self.cookie(app));
        answer
    }

    pub(crate) fn view(&self) -> PlaceView<'_> {
        let Self {
            claims,
            token,
            place,
            seen,
            at,
            ..
        } = self;
        PlaceView::of(token, claims, *place, None, seen, *at)
    }

    /// The header that gives the token to the browser.
    pub(crate) fn cookie(&self, app: &App) -> HeaderValue {
        app.cookies
            .set(&self.claims.aud, &self.token, app.token_ttl_s)
    }
}

fn named(visitor: Visitor, key: Option<IdempotencyKey>) -> Joiner {
    let key = key.map(|key| join_key(&key, &visitor));
    Joiner { visitor, key }
}

/// Keys belong to the visitor who sends them: another visitor's same key is another key.
fn join_key(key: &IdempotencyKey, visitor: &Visitor) -> JoinKey {
    // Neither has a space, so no two pairs make the same text.
    let pair = Sha256::new_with_prefix(visitor.as_str())
        .chain_update(" ")
        .chain_update(key.as_str());
    let key: [u8; 32] = pair.finalize().into();
    let body: [u8; 32] = Sha256::digest(visitor.as_str()).into();
    let (key, _) = key.split_first_chunk().expect("a digest has 32 bytes");
    let (body, _) = body.split_first_chunk().expect("a digest has 32 bytes");
    JoinKey {
        key: u128::from_be_bytes(*key),
        body: u64::from_be_bytes(*body),
    }
}

impl FromRequestParts<App> for JoinHeaders {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        Self::of(&parts.headers, Client::of(parts, &app.trusted_proxies), app)
    }
}

pub(crate) fn user_id_schema() -> RefOr<Schema> {
    let text = ObjectBuilder::new()
        .schema_type(Type::String)
        .pattern(Some("^[!-~]{1,128}$"));
    let number = ObjectBuilder::new().schema_type(Type::Integer);
    let nothing = ObjectBuilder::new().schema_type(Type::Null);
    let any = OneOfBuilder::new().item(text).item(number).item(nothing);
    RefOr::T(any.build().into())
}

impl JoinHeaders {
    /// What somebody sends who may join so often, which is asked before the body is read.
    pub(crate) fn of(headers: &HeaderMap, client: Client, app: &App) -> Result<Self, ApiError> {
        app.rates.join(client, app.now())?;
        Ok(Self {
            key: IdempotencyKey::of(headers)?,
            bearer: bearer(headers).map(Cow::into_owned),
            login: app.cookies.login(headers).map(str::to_owned),
            token: header_token(headers).map(str::to_owned),
            cookies: cookies(headers),
        })
    }

    /// What a form of the waiting page sends: its key as a field, the token as a cookie.
    pub(crate) fn of_page(app: &App, headers: &HeaderMap, key: Option<String>) -> Self {
        Self {
            key: key.and_then(|key| IdempotencyKey::parse(&key).ok()),
            bearer: None,
            login: app.cookies.login(headers).map(str::to_owned),
            token: None,
            cookies: cookies(headers),
        }
    }
}

fn cookies(headers: &HeaderMap) -> Vec<HeaderValue> {
    headers.get_all(COOKIE).into_iter().cloned().collect()
}

/// A user id as text, or as an integer that stands for its decimal text.
pub(crate) fn user_id<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<UserId>, D::Error> {
    struct TextOrInteger;

    impl de::Visitor<'_> for TextOrInteger {
        type Value = Option<UserId>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a user id as text or integer")
        }

        fn visit_unit<E: de::Error>(self) -> Result<Self::Value, E> {
            Ok(None)
        }

        fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
            UserId::parse_for_visitor(text).map(Some).map_err(E::custom)
        }

        fn visit_u64<E: de::Error>(self, number: u64) -> Result<Self::Value, E> {
            self.visit_str(&number.to_string())
        }

        fn visit_i64<E: de::Error>(self, number: i64) -> Result<Self::Value, E> {
            self.visit_str(&number.to_string())
        }
    }

    deserializer.deserialize_any(TextOrInteger)
}
