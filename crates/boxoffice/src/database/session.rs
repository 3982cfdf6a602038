//! What is done inside a transaction.

use sqlx::{AnyConnection, query_scalar};

use super::Dialect;
use crate::{Error, Refusal, UserId};

/// Something that happens as a whole or not at all. It may be carried out several times, until one
/// time is committed.
pub(crate) trait Work: Send + Sync + 'static {
    /// What it answers.
    type Done: Send + 'static;

    /// Does it inside the transaction; an error undoes all of it.
    fn carry_out(
        &self,
        session: &mut Session<'_>,
    ) -> impl Future<Output = Result<Self::Done, Error>> + Send;
}

/// A transaction under way, or one's part of it.
pub(crate) struct Session<'c> {
    connection: &'c mut AnyConnection,
    pub(crate) dialect: Dialect,
}

impl<'c> Session<'c> {
    /// A connection on which a transaction has begun, and which whoever began it ends.
    pub(super) fn on(connection: &'c mut AnyConnection, dialect: Dialect) -> Self {
        Self {
            connection,
            dialect,
        }
    }

    /// What statements are carried out on.
    pub(crate) fn connection(&mut self) -> &mut AnyConnection {
        self.connection
    }

    /// Makes sure that the user does nothing else meanwhile. Where there is one writer, nobody does anyway.
    pub(crate) async fn lock_user_among_writers(&mut self, user: UserId) -> Result<(), Error> {
        match self.dialect {
            Dialect::Sqlite => Ok(()),
            Dialect::Postgres => self.lock_user(user).await,
        }
    }

    /// Makes sure that the user exists and does nothing else meanwhile.
    ///
    /// Everything that changes what a user has begins with this, so that limits and idempotency keys
    /// can be looked up and acted on, and locks are always taken in the same order.
    pub(crate) async fn lock_user(&mut self, user: UserId) -> Result<(), Error> {
        let lock = self.dialect.for_update();
        let sql = format!("SELECT id FROM users WHERE id = $1{lock}");
        let found: Option<i64> = query_scalar(&sql)
            .bind(user.0)
            .fetch_optional(self.connection())
            .await?;
        found.map(drop).ok_or(Refusal::UserNotFound.into())
    }
}
