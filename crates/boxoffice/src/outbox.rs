//! Passes that the waiting room is to finish.
//!
//! A row is written with the payment that causes it and stays due until the room has acknowledged it:
//! a crash after the payment loses nothing, and nothing is sent for a payment that was undone. It may
//! be sent more than once; the ordinal makes finishing twice the same as once.

use std::time::Duration;

use ropeline_core::Timestamp;
use sqlx::{query, query_as};

use crate::{
    BoxOffice, Error, OutboxId, PassHeld, ReservationId,
    database::{Session, Work},
    time::millis,
};

/// Whoever pays tries to finish the pass at once, and has so long before somebody else tries.
const FIRST_TRY: Duration = Duration::from_secs(1);

/// A pass to finish.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PassToFinish {
    /// Its row in the outbox.
    pub id: OutboxId,
    /// The pass.
    pub pass: PassHeld,
    /// How often it was taken from the outbox, this time included.
    pub attempts: i64,
}

/// Row, room, visitor, ordinal, attempts.
type Row = (i64, String, String, i64, i64);

/// Puts the pass of a reservation into the outbox, if it has one.
pub(crate) async fn put(
    session: &mut Session<'_>,
    reservation: ReservationId,
    now: Timestamp,
) -> Result<Option<PassToFinish>, Error> {
    let row: Option<Row> = query_as(
        "INSERT INTO outbox (room, visitor, ordinal, due_at, created_at) \
         SELECT pass_room, pass_visitor, pass_ordinal, $2, $3 FROM reservations \
         WHERE id = $1 AND pass_room IS NOT NULL \
         RETURNING id, room, visitor, ordinal, attempts",
    )
    .bind(reservation.0)
    .bind(millis(now + FIRST_TRY))
    .bind(millis(now))
    .fetch_optional(session.connection())
    .await?;
    row.map(pass_to_finish).transpose()
}

impl BoxOffice {
    /// Takes at most `rows_max` passes that are due, the longest due first. They are due again after
    /// `lease`, should the taker never come back.
    pub async fn take_due(
        &self,
        rows_max: u32,
        lease: Duration,
        now: Timestamp,
    ) -> Result<Vec<PassToFinish>, Error> {
        let take = TakeDue { rows_max, lease };
        self.database.write(take, now).await
    }

    /// The room has acknowledged it: it is never due again.
    pub async fn finished(&self, row: OutboxId, now: Timestamp) -> Result<(), Error> {
        self.database.write(Finished { row }, now).await
    }

    /// The room could not be told: it is due again after `wait`.
    pub async fn retry(&self, row: OutboxId, wait: Duration, now: Timestamp) -> Result<(), Error> {
        self.database.write(Retry { row, wait }, now).await
    }
}

struct TakeDue {
    rows_max: u32,
    lease: Duration,
}

impl Work for TakeDue {
    type Done = Vec<PassToFinish>;

    async fn carry_out(&self, session: &mut Session<'_>) -> Result<Vec<PassToFinish>, Error> {
        let now = session.now().await?;
        let lock = session.dialect.for_update_of_untouched();
        let sql = format!(
            "UPDATE outbox SET attempts = attempts + 1, due_at = $2 WHERE id IN \
             (SELECT id FROM outbox WHERE done_at IS NULL AND due_at <= $1 \
              ORDER BY due_at, id LIMIT $3{lock}) \
             RETURNING id, room, visitor, ordinal, attempts"
        );
        let mut rows: Vec<Row> = query_as(&sql)
            .bind(millis(now))
            .bind(millis(now + self.lease))
            .bind(i64::from(self.rows_max))
            .fetch_all(session.connection())
            .await?;
        rows.sort_unstable();
        rows.into_iter().map(pass_to_finish).collect()
    }
}

struct Finished {
    row: OutboxId,
}

impl Work for Finished {
    type Done = ();

    async fn carry_out(&self, session: &mut Session<'_>) -> Result<(), Error> {
        let time = session.time();
        let now = time.sql("$2");
        let sql = format!("UPDATE outbox SET done_at = {now} WHERE id = $1 AND done_at IS NULL");
        query(&sql)
            .bind(self.row.0)
            .bind(time.bound())
            .execute(session.connection())
            .await?;
        Ok(())
    }
}

struct Retry {
    row: OutboxId,
    wait: Duration,
}

impl Work for Retry {
    type Done = ();

    async fn carry_out(&self, session: &mut Session<'_>) -> Result<(), Error> {
        let due_at = session.now().await? + self.wait;
        query("UPDATE outbox SET due_at = $2 WHERE id = $1 AND done_at IS NULL")
            .bind(self.row.0)
            .bind(millis(due_at))
            .execute(session.connection())
            .await?;
        Ok(())
    }
}

fn pass_to_finish((id, room, visitor, ordinal, attempts): Row) -> Result<PassToFinish, Error> {
    Ok(PassToFinish {
        id: OutboxId(id),
        pass: PassHeld::stored(&room, &visitor, ordinal)?,
        attempts,
    })
}
