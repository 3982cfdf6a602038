//! A table in PostgreSQL: seeds 003 and 004 before their move to Redis.
//!
//! 003 reads all who wait and counts in the service; here the database counts, by an index, which is cheaper.

use sqlx::{PgConnection, PgPool, Row as _, postgres::PgPoolOptions, query, query_scalar};

use super::api::{Answer, Design, Entered};

/// What Spring's pool, Hikari, has by default.
const CONNECTIONS: u32 = 10;

/// Clones share the pool.
#[derive(Clone)]
pub(super) struct Table {
    pool: PgPool,
    entry_limit: u64,
}

impl Design for Table {
    /// `createToken` of 003 in its transaction, with the count of 004 before: the place is how many wait.
    async fn join(&self, user: &str) -> Answer<Entered> {
        let mut transaction = self.pool.begin().await?;
        let inside = count(&mut transaction, "ACTIVE").await?;
        let status = if inside < self.entry_limit {
            "ACTIVE"
        } else {
            "WAIT"
        };
        // The constraint is what 003 asks for with `DUPLICATED_TOKEN`, at no further round trip.
        query("INSERT INTO token (user_id, status) VALUES ($1, $2) ON CONFLICT DO NOTHING")
            .bind(user)
            .bind(status)
            .execute(&mut *transaction)
            .await?;
        let waiting = match status {
            "ACTIVE" => None,
            _ => Some(count(&mut transaction, "WAIT").await?),
        };
        transaction.commit().await?;
        Ok(waiting.map_or(Entered::Inside, |rank| {
            Entered::waits(rank, self.entry_limit)
        }))
    }

    /// `checkQueueStatus` of 003: the token, then how many who wait were before it.
    async fn find(&self, user: &str) -> Answer<Option<Entered>> {
        let mut connection = self.pool.acquire().await?;
        let token = query("SELECT status, token_issued_at::text FROM token WHERE user_id = $1")
            .bind(user)
            .fetch_optional(&mut *connection)
            .await?;
        let Some(token) = token else {
            return Ok(None);
        };
        let (status, issued_at): (&str, &str) = (token.try_get(0)?, token.try_get(1)?);
        if status == "ACTIVE" {
            return Ok(Some(Entered::Inside));
        }
        let before = query_scalar(
            "SELECT count(*) FROM token WHERE status = 'WAIT' AND token_issued_at < $1::timestamptz",
        );
        let before: i64 = before.bind(issued_at).fetch_one(&mut *connection).await?;
        let rank = u64::try_from(before + 1).unwrap_or(0);
        Ok(Some(Entered::waits(rank, self.entry_limit)))
    }

    /// The scheduler of 004.
    async fn admit(&self, count: usize) -> Answer<()> {
        query(
            "UPDATE token SET status = 'ACTIVE', expires_at = now() + interval '10 minutes' WHERE token_id IN \
             (SELECT token_id FROM token WHERE status = 'WAIT' ORDER BY token_issued_at LIMIT $1)",
        )
        .bind(i64::try_from(count).unwrap_or(i64::MAX))
        .execute(&self.pool)
        .await?;
        Ok(())
    }
}

impl Table {
    pub(super) async fn open(url: &str, entry_limit: u64) -> sqlx::Result<Self> {
        let pool = PgPoolOptions::new().max_connections(CONNECTIONS);
        Ok(Self {
            pool: pool.connect(url).await?,
            entry_limit,
        })
    }
}

async fn count(connection: &mut PgConnection, status: &str) -> sqlx::Result<u64> {
    let count: i64 = query_scalar("SELECT count(*) FROM token WHERE status = $1")
        .bind(status)
        .fetch_one(connection)
        .await?;
    Ok(u64::try_from(count).unwrap_or(0))
}
