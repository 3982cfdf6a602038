//! Users and their place in the line.

use axum::{
    extract::State,
    response::{IntoResponse, Response},
};
use http::{HeaderValue, StatusCode, header::SET_COOKIE};
use ropeline_core::UserId as SiteUser;
use ropeline_gate::{Cookies, GateError, Ticket};
use ropeline_web::{Client, Json, NotCrossSite};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Service, error::ApiError, guard::Owner, login::LOGIN_TTL};
use crate::{Error, UserId};

/// Somebody who wants to buy.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewUser {
    /// 1 to 100 characters.
    name: String,
}

/// A user who has just logged in.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct UserView {
    user_id: i64,
    /// The login, for `Authorization: Bearer`.
    access_token: String,
}

/// Makes a user and logs them in. It stands in for the site's own login, and asks for no password.
pub(crate) async fn create(
    State(service): State<Service>,
    client: Client,
    Json(new): Json<NewUser>,
) -> Result<Response, ApiError> {
    service.count_join(client)?;
    let (user, access_token) = service.log_in(&new.name).await?;
    let cookie = login_cookie(&access_token, service.cookies);
    let view = UserView {
        user_id: user.0,
        access_token,
    };
    Ok((StatusCode::CREATED, [(SET_COOKIE, cookie)], Json(view)).into_response())
}

/// Gives the user a place in the line, or the one they have.
pub(crate) async fn token(
    _: NotCrossSite,
    State(service): State<Service>,
    client: Client,
    Owner(user): Owner,
) -> Result<Response, ApiError> {
    service.count_join(client)?;
    let ticket = service.line_up(user).await?;
    let mut response = Json(ticket.view).into_response();
    if let Some(cookie) = ticket.cookie {
        response.headers_mut().append(SET_COOKIE, cookie);
    }
    Ok(response)
}

impl Service {
    /// Makes a user; gives who they are, and their login.
    pub(crate) async fn log_in(&self, name: &str) -> Result<(UserId, String), Error> {
        let now = self.now();
        let user = self.office.create_user(name, now).await?;
        Ok((user, self.logins.issue(user, now)))
    }

    /// Gives a user who has logged in a place in the line, or the one they have.
    pub(crate) async fn line_up(&self, user: UserId) -> Result<Ticket, GateError> {
        let user = SiteUser::parse(&user.to_string()).expect("a number is printable");
        self.gatekeeper.join(&self.room, Some(&user)).await
    }
}

/// The header that gives a login to the browser, out of reach of scripts and other sites.
pub(crate) fn login_cookie(login: &str, cookies: Cookies) -> HeaderValue {
    cookies.set_login(login, LOGIN_TTL.as_secs())
}

/// The header that takes it away.
pub(crate) fn no_login_cookie(cookies: Cookies) -> HeaderValue {
    cookies.set_login("", 0)
}
