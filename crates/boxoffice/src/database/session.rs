//! What is done inside a transaction.

use ropeline_core::Timestamp;
use sqlx::{AnyConnection, query_scalar};

use super::{Dialect, Now};
use crate::{Error, Refusal, UserId, time::moment};

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
    time: Now,
    /// The time of the transaction, once it is known.
    now: Option<Timestamp>,
}

impl<'c> Session<'c> {
    /// A connection on which a transaction has begun, and which whoever began it ends.
    pub(super) fn on(connection: &'c mut AnyConnection, time: Now) -> Self {
        Self {
            connection,
            dialect: time.dialect,
            time,
            now: time.given,
        }
    }

    /// What statements are carried out on.
    pub(crate) fn connection(&mut self) -> &mut AnyConnection {
        self.connection
    }

    /// The time, for work of a single statement.
    pub(crate) fn time(&self) -> Now {
        self.time
    }

    /// The time of this transaction, the same however often it is asked for. After [`Session::lock_user`] it is known.
    pub(crate) async fn now(&mut self) -> Result<Timestamp, Error> {
        if let Some(now) = self.now {
            return Ok(now);
        }
        let sql = format!("SELECT {}", self.time.sql("$1"));
        let now: i64 = query_scalar(&sql)
            .bind(self.time.bound())
            .fetch_one(self.connection())
            .await?;
        Ok(*self.now.insert(moment(now)))
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
    /// can be looked up and acted on, and locks are always taken in the same order. The time of the transaction is that
    /// at which the lock was granted, however long that took.
    pub(crate) async fn lock_user(&mut self, user: UserId) -> Result<(), Error> {
        let (now, lock) = (self.time.sql("$2"), self.dialect.for_update());
        let sql = format!("SELECT {now} FROM (SELECT id FROM users WHERE id = $1{lock}) AS locked");
        let locked_at: Option<i64> = query_scalar(&sql)
            .bind(user.0)
            .bind(self.time.bound())
            .fetch_optional(self.connection())
            .await?;
        let locked_at = locked_at.ok_or(Refusal::UserNotFound)?;
        self.now.get_or_insert(moment(locked_at));
        Ok(())
    }
}
