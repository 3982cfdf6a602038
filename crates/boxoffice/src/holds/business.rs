//! How long holders have business inside, so that their passes can last as long.

use std::time::Duration;

use ropeline_core::Timestamp;
use sqlx::{query_as, query_scalar};

use super::PassHeld;
use crate::{BoxOffice, Error, UserId, time::moment};

/// More holders than this are not looked for at once.
const HOLDERS_MAX: i64 = 100_000;

/// What a user has left to do inside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Business {
    /// The pass that the user last reserved with.
    pub pass: PassHeld,
    /// How long the last of the user's live holds lasts yet; none if nothing is held.
    pub left: Option<Duration>,
}

impl BoxOffice {
    /// What a user has left to do inside, if they have ever reserved with a pass.
    pub async fn business(&self, user: UserId, now: Timestamp) -> Result<Option<Business>, Error> {
        let now = self.database.now(now);
        let sql = format!(
            "SELECT pass_room, pass_visitor, pass_ordinal, \
             (SELECT MAX(hold_until) FROM reservations WHERE user_id = $1 AND state = 'HELD'), {} \
             FROM reservations WHERE user_id = $1 AND pass_room IS NOT NULL \
             ORDER BY id DESC LIMIT 1",
            now.sql("$2")
        );
        let row: Option<(String, String, i64, Option<i64>, i64)> = query_as(&sql)
            .bind(user.0)
            .bind(now.bound())
            .fetch_optional(self.database.reader())
            .await?;
        let Some((room, visitor, ordinal, until, now)) = row else {
            return Ok(None);
        };
        let until = until.filter(|until| *until > now);
        Ok(Some(Business {
            pass: PassHeld::stored(&room, &visitor, ordinal)?,
            left: until.map(|until| moment(now).until(moment(until))),
        }))
    }

    /// Everybody who holds a seat that was reserved with a pass.
    pub async fn holders(&self, now: Timestamp) -> Result<Vec<UserId>, Error> {
        let now = self.database.now(now);
        let sql = format!(
            "SELECT DISTINCT user_id FROM reservations \
             WHERE state = 'HELD' AND hold_until > {} AND pass_room IS NOT NULL LIMIT $2",
            now.sql("$1")
        );
        let users: Vec<i64> = query_scalar(&sql)
            .bind(now.bound())
            .bind(HOLDERS_MAX)
            .fetch_all(self.database.reader())
            .await?;
        Ok(users.into_iter().map(UserId).collect())
    }
}
