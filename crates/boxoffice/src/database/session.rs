//! One transaction, and how often it is tried.

use std::time::Duration;

use sqlx::{Any, AnyConnection, Transaction, query_scalar};

use super::{Database, Dialect};
use crate::{Error, Refusal, UserId};

/// After so many a conflict is no chance meeting.
const ATTEMPTS_MAX: u32 = 5;
/// The longest pause after the first conflict; it doubles with each.
const PAUSE_MS: u32 = 10;

/// Something that happens as a whole or not at all. It may be carried out several times, until one
/// time is committed.
pub(crate) trait Work: Sync {
    /// What it answers.
    type Done: Send;

    /// Does it inside the transaction; an error undoes all of it.
    fn carry_out(
        &self,
        session: &mut Session,
    ) -> impl Future<Output = Result<Self::Done, Error>> + Send;
}

/// A transaction under way.
pub(crate) struct Session {
    transaction: Transaction<'static, Any>,
    pub(crate) dialect: Dialect,
}

impl Session {
    /// What statements are carried out on.
    pub(crate) fn connection(&mut self) -> &mut AnyConnection {
        &mut self.transaction
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

impl Database {
    /// Carries out `work` in a transaction; again if the database asks for it.
    pub(crate) async fn write<W: Work>(&self, work: &W) -> Result<W::Done, Error> {
        let mut attempt = 1;
        loop {
            let outcome = self.attempt(work).await;
            if attempt == ATTEMPTS_MAX || !self.asks_to_repeat(&outcome) {
                return outcome;
            }
            tokio::time::sleep(pause(attempt)).await;
            attempt += 1;
        }
    }

    async fn attempt<W: Work>(&self, work: &W) -> Result<W::Done, Error> {
        let transaction = self.writer.begin_with(self.dialect.begin()).await?;
        let dialect = self.dialect;
        let mut session = Session {
            transaction,
            dialect,
        };
        match work.carry_out(&mut session).await {
            Ok(done) => {
                session.transaction.commit().await?;
                Ok(done)
            }
            Err(error) => {
                // The first error is the one to report; a lost connection rolls back by itself.
                session.transaction.rollback().await.ok();
                Err(error)
            }
        }
    }

    fn asks_to_repeat<T>(&self, outcome: &Result<T, Error>) -> bool {
        let Err(Error::Database(sqlx::Error::Database(error))) = outcome else {
            return false;
        };
        self.dialect.asks_to_repeat(&**error)
    }
}

/// A random pause, so that two that met do not meet again.
fn pause(attempt: u32) -> Duration {
    let longest_ms = PAUSE_MS << attempt;
    let drawn = getrandom::u32().unwrap_or(longest_ms);
    Duration::from_millis(u64::from(drawn % longest_ms))
}
