//! Who joins, and on whose word.

use ropeline_core::{Claims, Identity, UserId, Visitor};

use crate::{app::App, error::ApiError};

/// Who joins.
#[derive(Debug)]
pub(crate) enum Caller {
    /// A user whose login was verified.
    Verified(UserId),
    /// A user by the caller's word alone.
    Named(UserId),
    /// Somebody without a name.
    Unnamed,
    /// Somebody who is let go on with a verified place in hand, but gets no new one without a login.
    LoggedOut(Option<UserId>),
}

impl Caller {
    /// Who asks to join a room of this identity, with what came as `Authorization: Bearer` and as `userId`.
    pub(crate) fn of(
        app: &App,
        identity: Identity,
        bearer: Option<&str>,
        user: Option<UserId>,
    ) -> Result<Self, ApiError> {
        match (identity, bearer) {
            (Identity::Anonymous, _) if user.is_some() => Err(no_user_ids()),
            (Identity::Anonymous, _) => Ok(Self::Unnamed),
            (Identity::Jwt, None) => Ok(Self::LoggedOut(user)),
            (Identity::Jwt, Some(bearer)) => Self::logged_in(app, bearer, user),
            (Identity::Open, Some(bearer)) if app.logins.get().is_some() => {
                Self::logged_in(app, bearer, user)
            }
            (Identity::Open, _) => Ok(user.map_or(Self::Unnamed, Self::Named)),
        }
    }

    /// Whoever names nobody is whom a login in a cookie names, so that the waiting page gives a buyer back the place that
    /// is theirs. A login that is not valid now is none.
    pub(crate) fn or_by_cookie(self, app: &App, identity: Identity, cookie: Option<&str>) -> Self {
        let nameless = matches!(self, Self::Unnamed | Self::LoggedOut(None));
        if !nameless || identity == Identity::Anonymous {
            return self;
        }
        let login = cookie.map(|login| Self::logged_in(app, login, None));
        login.and_then(Result::ok).unwrap_or(self)
    }

    /// Whom a service that the operator trusts lets join a room of this identity: its word is as good as a login.
    pub(crate) fn vouched_for(identity: Identity, user: Option<UserId>) -> Result<Self, ApiError> {
        match (identity, user) {
            (Identity::Anonymous, Some(_)) => Err(no_user_ids()),
            (Identity::Jwt, None) => Err(ApiError::Field {
                field: "userId",
                message: "must be there, since this room takes nobody without a login".to_owned(),
            }),
            (Identity::Open | Identity::Jwt, Some(user)) => Ok(Self::Verified(user)),
            (Identity::Open | Identity::Anonymous, None) => Ok(Self::Unnamed),
        }
    }

    fn logged_in(app: &App, bearer: &str, user: Option<UserId>) -> Result<Self, ApiError> {
        let logins = app.logins.get().ok_or(ApiError::LoginInvalid)?;
        let subject = logins
            .load()
            .verify(bearer, app.now())
            .map_err(|_| ApiError::LoginInvalid)?;
        if user.is_some_and(|user| user != subject) {
            return Err(ApiError::Field {
                field: "userId",
                message: "must be left out, or be the subject of the login".to_owned(),
            });
        }
        Ok(Self::Verified(subject))
    }

    /// Whether the caller may go on with the place of a genuine token.
    pub(crate) fn may_resume(&self, claims: &Claims) -> bool {
        let is = |user: &UserId| claims.sub == Visitor::stated(user);
        match self {
            Self::Verified(user) | Self::Named(user) => is(user),
            Self::Unnamed => true,
            Self::LoggedOut(user) => claims.vfd && user.as_ref().is_none_or(is),
        }
    }

    pub(crate) fn is_verified(&self) -> bool {
        matches!(self, Self::Verified(_))
    }
}

fn no_user_ids() -> ApiError {
    ApiError::Field {
        field: "userId",
        message: "this room takes visitors without user ids only".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use ropeline_core::{Ordinal, RoomId, Timestamp};

    use super::*;

    fn claims(vfd: bool) -> Claims {
        Claims {
            iss: "".into(),
            aud: RoomId::main(),
            epoch: Timestamp(0),
            sub: Visitor::stated(&user("ann")),
            ord: Ordinal(1),
            lane: "".into(),
            vfd,
            ver: 1,
            iat: 0,
            exp: 0,
        }
    }

    fn user(id: &str) -> UserId {
        UserId::parse(id).unwrap()
    }

    #[test]
    fn a_token_from_before_the_room_took_logins_does_not_stand_for_one() {
        for (caller, by_verified, by_believed) in [
            (Caller::LoggedOut(None), true, false),
            (Caller::LoggedOut(Some(user("ann"))), true, false),
            (Caller::LoggedOut(Some(user("bob"))), false, false),
            (Caller::Verified(user("ann")), true, true),
            (Caller::Verified(user("bob")), false, false),
            (Caller::Named(user("ann")), true, true),
            (Caller::Named(user("bob")), false, false),
            (Caller::Unnamed, true, true),
        ] {
            let may = (
                caller.may_resume(&claims(true)),
                caller.may_resume(&claims(false)),
            );
            assert_eq!(may, (by_verified, by_believed), "{caller:?}");
        }
    }
}
