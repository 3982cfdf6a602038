//! Who looks at a page.

use std::convert::Infallible;

use axum::{
    extract::{FromRequestParts, State},
    response::{IntoResponse, Redirect, Response},
};
use http::{header::SET_COOKIE, request::Parts};
use minijinja::{Value, context};
use ropeline_web::Client;

use super::Pages;
use crate::{
    Account, Error, Refusal, Reservation, ReservationState, UserId,
    http::{ApiError, Login, no_login_cookie},
};

/// The user whom the login names, if somebody has logged in. A login that is no longer good is none.
#[derive(Debug, Clone, Copy)]
pub(super) struct Visitor(Option<UserId>);

impl FromRequestParts<Pages> for Visitor {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, pages: &Pages) -> Result<Self, Infallible> {
        let login = Login::from_request_parts(parts, &pages.service).await;
        Ok(Self(login.ok().map(|Login(user)| user)))
    }
}

impl FromRequestParts<Pages> for Client {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, pages: &Pages) -> Result<Self, Infallible> {
        Self::from_request_parts(parts, &pages.service).await
    }
}

/// Somebody who has logged in, and all that is theirs.
#[derive(Debug)]
pub(super) struct Customer {
    pub(super) account: Account,
    /// The newest first.
    pub(super) reservations: Vec<Reservation>,
}

impl Visitor {
    /// Whoever has logged in. A login may outlive the database that knew its user: then nobody has.
    pub(super) async fn customer(self, pages: &Pages) -> Result<Option<Customer>, ApiError> {
        let Self(Some(user)) = self else {
            return Ok(None);
        };
        let (office, now) = (&pages.service.office, pages.service.now());
        let account = match office.account(user).await {
            Err(Error::Refused(Refusal::UserNotFound)) => return Ok(None),
            account => account?,
        };
        Ok(Some(Customer {
            account,
            reservations: office.reservations(user, now).await?,
        }))
    }
}

impl Customer {
    /// The seats that are held and not paid for.
    pub(super) fn holds(&self) -> impl Iterator<Item = &Reservation> {
        let held = |of: &&Reservation| of.state == ReservationState::Held;
        self.reservations.iter().filter(held)
    }

    /// The account as pages show it.
    pub(super) fn shown(&self) -> Value {
        let account = &self.account;
        context! {
            id => account.user.0,
            name => account.name.as_str(),
            balance => account.balance.get(),
        }
    }
}

pub(super) async fn log_out(State(pages): State<Pages>) -> Response {
    let cookie = no_login_cookie(pages.service.cookies);
    ([(SET_COOKIE, cookie)], Redirect::to("/")).into_response()
}
