//! Who joins, and on whose word.

use ropeline_core::{Claims, Identity, UserId};

use crate::{app::App, error::ApiError};

/// Who joins.
#[derive(Debug)]
pub(crate) enum Caller {
    /// A user for whom a login or a service vouches.
    Verified(UserId),
    /// A user by an id that was merely stated.
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

    /// A caller who names nobody, or the same user, is the user of a login in a cookie, so that the waiting page gives
    /// buyers their own place. A login that is not valid now counts as none.
    pub(crate) fn or_by_cookie(self, app: &App, identity: Identity, cookie: Option<&str>) -> Self {
        let stated = match &self {
            Self::Unnamed => None,
            Self::Named(user) => Some(user),
            Self::LoggedOut(user) => user.as_ref(),
            Self::Verified(_) => return self,
        };
        if identity == Identity::Anonymous {
            return self;
        }
        let login = cookie.map(|login| Self::logged_in(app, login, stated.cloned()));
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
    ///
    /// A verified user never goes on with a place that was merely stated: a stranger may have its token. Tokens of
    /// earlier versions that say `vfd` of such a place came from a login, and count until they expire.
    pub(crate) fn may_resume(&self, claims: &Claims) -> bool {
        let is = |user: &UserId| claims.sub.user_id() == Some(user.as_str());
        match self {
            Self::Verified(user) => claims.vfd && is(user),
            Self::Named(user) => is(user),
            Self::Unnamed => true,
            Self::LoggedOut(user) => claims.vfd && user.as_ref().is_none_or(is),
        }
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
    use ropeline_core::{Holder, Ordinal, RoomId, Timestamp, Visitor};

    use super::*;
    use crate::token::claims_for;

    fn user(id: &str) -> UserId {
        UserId::parse(id).unwrap()
    }

    fn claims(visitor: Visitor) -> Claims {
        let ordinal = Ordinal(1);
        let holder = Holder { visitor, ordinal };
        claims_for(RoomId::main(), Timestamp(0), holder, 0..1)
    }

    #[test]
    fn a_stated_id_does_not_stand_for_a_login() {
        let verified = claims(Visitor::verified(&user("ann")));
        let of_earlier_version = Claims {
            vfd: true,
            ..claims(Visitor::stated(&user("ann")))
        };
        let stated = claims(Visitor::stated(&user("ann")));
        for (caller, by_verified, by_stated) in [
            (Caller::LoggedOut(None), true, false),
            (Caller::LoggedOut(Some(user("ann"))), true, false),
            (Caller::LoggedOut(Some(user("bob"))), false, false),
            (Caller::Verified(user("ann")), true, false),
            (Caller::Verified(user("bob")), false, false),
            (Caller::Named(user("ann")), true, true),
            (Caller::Named(user("bob")), false, false),
            (Caller::Unnamed, true, true),
        ] {
            for (claims, may) in [
                (&verified, by_verified),
                (&of_earlier_version, by_verified),
                (&stated, by_stated),
            ] {
                assert_eq!(caller.may_resume(claims), may, "{caller:?} {claims:?}");
            }
        }
    }

    #[test]
    fn a_verified_user_does_not_take_over_an_anonymous_place() {
        let nameless = claims(Visitor::anonymous(1));
        assert!(!Caller::Verified(user("ann")).may_resume(&nameless));
        assert!(Caller::Unnamed.may_resume(&nameless));
    }
}
