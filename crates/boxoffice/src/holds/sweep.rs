//! Tidying up what time has ended.

use std::time::Duration;

use ropeline_core::Timestamp;
use sqlx::query_scalar;

use crate::{
    BoxOffice, Error, UserId,
    database::{Session, Work},
    keys,
    time::millis,
};

/// So few that buyers do not wait for the sweep.
const SWEPT_MAX: i64 = 500;
/// How long a repeated request is answered as the first time.
const KEYS_KEPT: Duration = Duration::from_secs(24 * 60 * 60);

/// What a sweep took away.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Swept {
    /// Whose holds had run out, once for each hold. After 500 there may be more.
    pub holds: Vec<UserId>,
    /// Idempotency keys older than a day.
    pub keys: u64,
}

impl Swept {
    /// Whether there may be more to sweep at once.
    pub fn is_full(&self) -> bool {
        i64::try_from(self.holds.len()).is_ok_and(|holds| holds >= SWEPT_MAX)
    }
}

impl BoxOffice {
    /// Marks holds that have run out, and forgets old idempotency keys. No sale depends on it.
    pub async fn sweep(&self, now: Timestamp) -> Result<Swept, Error> {
        self.database.write(Sweep, now).await
    }
}

struct Sweep;

impl Work for Sweep {
    type Done = Swept;

    async fn carry_out(&self, session: &mut Session<'_>) -> Result<Swept, Error> {
        let now = session.now().await?;
        let lock = session.dialect.for_update_of_untouched();
        let sql = format!(
            "UPDATE reservations SET state = 'EXPIRED' WHERE id IN \
             (SELECT id FROM reservations WHERE state = 'HELD' AND hold_until <= $1 \
              ORDER BY hold_until LIMIT $2{lock}) RETURNING user_id"
        );
        let users: Vec<i64> = query_scalar(&sql)
            .bind(millis(now))
            .bind(SWEPT_MAX)
            .fetch_all(session.connection())
            .await?;
        let holds = users.into_iter().map(UserId).collect();
        let keys = keys::forget(session, now - KEYS_KEPT).await?;
        Ok(Swept { holds, keys })
    }
}
