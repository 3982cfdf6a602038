//! Who asks, and whether they may.
//!
//! A handler that takes one of these as an argument is reached by nobody else.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use http::{HeaderMap, header::AUTHORIZATION, request::Parts};
use ropeline_gate::{Admitted, Cookies};
use ropeline_web::{Client, Path, bearer};
use serde::Deserialize;

use super::{Service, error::ApiError};
use crate::{PassHeld, UserId};

/// Somebody who has logged in: by `Authorization: Bearer`, and by the cookie where there is no such header.
#[derive(Debug)]
pub(crate) struct Login(pub(crate) UserId);

impl FromRequestParts<Service> for Login {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, service: &Service) -> Result<Self, ApiError> {
        let login = login(&parts.headers, service.cookies).ok_or(ApiError::LoginRequired)?;
        let user = service.logins.verify(&login, service.now());
        user.map(Self).ok_or(ApiError::LoginInvalid)
    }
}

fn login(headers: &HeaderMap, cookies: Cookies) -> Option<std::borrow::Cow<'_, str>> {
    if headers.contains_key(AUTHORIZATION) {
        return bearer(headers);
    }
    cookies.login(headers).map(Into::into)
}

/// The user whom the path names, who has logged in. Whoever names another learns nothing of them, not even whether
/// they exist.
#[derive(Debug)]
pub(crate) struct Owner(pub(crate) UserId);

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OwnedPath {
    user_id: UserId,
}

impl FromRequestParts<Service> for Owner {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, service: &Service) -> Result<Self, ApiError> {
        let Login(user) = Login::from_request_parts(parts, service).await?;
        let Path(OwnedPath { user_id }) = Path::from_request_parts(parts, service).await?;
        if user == user_id {
            Ok(Self(user))
        } else {
            Err(ApiError::UserMismatch)
        }
    }
}

/// Somebody inside, with a pass that a verified login stands behind.
///
/// Whom the gate let through without knowing them, as it does while the room's store is away and its operator wants
/// nobody refused, may look and not buy.
#[derive(Debug)]
pub(crate) struct Buyer {
    pub(crate) user: UserId,
    pub(crate) pass: PassHeld,
}

impl FromRequestParts<Service> for Buyer {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &Service) -> Result<Self, ApiError> {
        let admitted: Option<&Admitted> = parts.extensions.get();
        admitted.and_then(buyer).ok_or(ApiError::TokenNotVerified)
    }
}

fn buyer(admitted: &Admitted) -> Option<Buyer> {
    Some(Buyer {
        user: verified_user(admitted)?,
        pass: PassHeld {
            room: admitted.room.clone(),
            visitor: admitted.holder.visitor.clone(),
            ordinal: admitted.holder.ordinal,
        },
    })
}

/// The user of a pass, if a verified login stands behind it.
pub(crate) fn verified_user(admitted: &Admitted) -> Option<UserId> {
    let named = admitted.user_id().filter(|_| admitted.verified)?;
    UserId::named(named)
}

/// Proof that the caller is an operator.
#[derive(Debug)]
pub(crate) struct Operator;

impl FromRequestParts<Service> for Operator {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, service: &Service) -> Result<Self, ApiError> {
        if let Some(is_key) = service.operators.is_key() {
            check_key(parts, service, is_key)?;
        }
        Ok(Self)
    }
}

/// Compares the key of a request with the operators', and counts requests and wrong keys for its address: without that
/// the key could be guessed here at any speed.
fn check_key(
    parts: &Parts,
    service: &Service,
    is_key: &dyn Fn(&str) -> bool,
) -> Result<(), ApiError> {
    let (client, now) = (Client::of(parts, &service.trusted_proxies), service.now());
    let key = bearer(&parts.headers).ok_or(ApiError::Unauthorized)?;
    if is_key(&key) {
        Ok(service.rates.admin(client, now)?)
    } else {
        Err(service.rates.admin_failed(client, now).into())
    }
}

impl FromRequestParts<Service> for Client {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, service: &Service) -> Result<Self, Infallible> {
        Ok(Self::of(parts, &service.trusted_proxies))
    }
}
