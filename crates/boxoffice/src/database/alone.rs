//! Each request in a transaction of its own, side by side, as on PostgreSQL.

use std::time::Duration;

use sqlx::AnyPool;

use super::{Dialect, Now, Session, Work};
use crate::Error;

/// After so many a conflict is no chance meeting.
pub(super) const ATTEMPTS_MAX: u32 = 5;
/// The longest pause after the first conflict; it doubles with each.
const PAUSE_MS: u32 = 10;

/// Carries out `work` in a transaction; again if the database asks for it.
pub(super) async fn write<W: Work>(pool: &AnyPool, time: Now, work: &W) -> Result<W::Done, Error> {
    let mut attempt = 1;
    loop {
        let outcome = try_once(pool, time, work).await;
        if attempt == ATTEMPTS_MAX || !asks_to_repeat(time.dialect, &outcome) {
            return outcome;
        }
        tokio::time::sleep(pause(attempt)).await;
        attempt += 1;
    }
}

async fn try_once<W: Work>(pool: &AnyPool, time: Now, work: &W) -> Result<W::Done, Error> {
    let mut transaction = pool.begin_with(time.dialect.begin()).await?;
    let mut session = Session::on(&mut transaction, time);
    match work.carry_out(&mut session).await {
        Ok(done) => {
            transaction.commit().await?;
            Ok(done)
        }
        Err(error) => {
            // The first error is the one to report; a lost connection rolls back by itself.
            transaction.rollback().await.ok();
            Err(error)
        }
    }
}

fn asks_to_repeat<T>(dialect: Dialect, outcome: &Result<T, Error>) -> bool {
    let Err(Error::Database(sqlx::Error::Database(error))) = outcome else {
        return false;
    };
    dialect.asks_to_repeat(&**error)
}

/// A random pause, so that two that met do not meet again.
pub(super) fn pause(attempt: u32) -> Duration {
    let longest_ms = PAUSE_MS << attempt;
    let drawn = getrandom::u32().unwrap_or(longest_ms);
    Duration::from_millis(u64::from(drawn % longest_ms))
}
