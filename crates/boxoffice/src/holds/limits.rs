//! How many seats a user may have, and how soon again.
//!
//! The statement that takes a seat judges all of this itself, while the user is locked, so that requests at once cannot
//! exceed a limit together. What is said of a refusal comes from a second look, with the same expressions.

use std::time::Duration;

use ropeline_core::Timestamp;
use sqlx::query_as;

use crate::{
    Error, Refusal, Rules, SeatId, UserId,
    database::Session,
    time::{millis, moment},
};

const MINUTE: Duration = Duration::from_secs(60);

/// How many seats of the date a user has. Like the expressions below it is about a seat `s` ($1) and the user $2, at
/// the time $3. The states are named twice for the sake of the partial index.
pub(super) const TICKETS: &str = "(SELECT COUNT(*) FROM reservations r JOIN seats o ON o.id = r.seat_id \
     WHERE r.user_id = $2 AND o.date_id = s.date_id \
     AND r.state IN ('HELD', 'PAID') AND (r.state = 'PAID' OR r.hold_until > $3))";

/// When the user's latest hold on the seat ended without payment, 0 if none did.
pub(super) const LET_GO_AT: &str = "COALESCE((SELECT MAX(r.hold_until) FROM reservations r \
     WHERE r.user_id = $2 AND r.seat_id = s.id AND r.state <> 'PAID'), 0)";

/// When the user made the hold $4 before the latest one, 0 if there is none. A user's holds are made one after the
/// other, so their ids are in the order of time, and no more rows are read than are counted.
pub(super) const HELD_AT: &str = "COALESCE((SELECT r.held_at FROM reservations r \
     WHERE r.user_id = $2 ORDER BY r.id DESC LIMIT 1 OFFSET $4), 0)";

/// How many have the seat, which is one at most. The states are named twice here too.
const TAKEN: &str = "(SELECT COUNT(*) FROM reservations r \
     WHERE r.seat_id = s.id AND r.state IN ('HELD', 'PAID') AND (r.state = 'PAID' OR r.hold_until > $3))";

/// What the expressions are compared with at a moment.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    /// [`TICKETS`] must be below this.
    pub(super) tickets_max: i64,
    /// [`LET_GO_AT`] must not be after this.
    pub(super) let_go_by: i64,
    /// [`HELD_AT`] must not be after this.
    pub(super) held_by: i64,
    /// Which hold [`HELD_AT`] looks at.
    pub(super) holds_since: i64,
}

impl Bounds {
    pub(super) fn at(rules: &Rules, now: Timestamp) -> Self {
        let no_later_than = |span| millis(now - span);
        let (cooldown, per_minute) = (rules.hold_cooldown, rules.holds_per_minute);
        Self {
            tickets_max: rules.tickets_max.into(),
            let_go_by: if cooldown.is_zero() {
                i64::MAX
            } else {
                no_later_than(cooldown)
            },
            held_by: if per_minute == 0 {
                i64::MAX
            } else {
                no_later_than(MINUTE)
            },
            holds_since: i64::from(per_minute.saturating_sub(1)),
        }
    }
}

/// What stands in the way of a user at a seat.
#[derive(Debug)]
pub(super) struct Obstacles {
    tickets: i64,
    let_go_at: i64,
    held_at: i64,
    taken: i64,
}

impl Obstacles {
    /// None if there is no such seat.
    pub(super) async fn find(
        session: &mut Session<'_>,
        (user, seat): (UserId, SeatId),
        rules: &Rules,
        now: Timestamp,
    ) -> Result<Option<Self>, Error> {
        let sql = format!(
            "SELECT {TICKETS}, {LET_GO_AT}, {HELD_AT}, {TAKEN} FROM seats s WHERE s.id = $1"
        );
        let row: Option<(i64, i64, i64, i64)> = query_as(&sql)
            .bind(seat.0)
            .bind(user.0)
            .bind(millis(now))
            .bind(Bounds::at(rules, now).holds_since)
            .fetch_optional(session.connection())
            .await?;
        Ok(row.map(|(tickets, let_go_at, held_at, taken)| Self {
            tickets,
            let_go_at,
            held_at,
            taken,
        }))
    }

    /// The reason that helps most: first what only giving up a seat changes, then what another seat changes.
    pub(super) fn refusal(&self, holds: usize, rules: &Rules, now: Timestamp) -> Refusal {
        let bounds = Bounds::at(rules, now);
        if self.tickets >= bounds.tickets_max {
            Refusal::TicketLimit
        } else if holds >= rules.holds_max as usize {
            Refusal::HoldLimit
        } else if self.held_at > bounds.held_by {
            let left = now.until(moment(self.held_at) + MINUTE);
            Refusal::HoldRateLimited { left }
        } else if self.taken == 0 && self.let_go_at > bounds.let_go_by {
            let left = now.until(moment(self.let_go_at) + rules.hold_cooldown);
            Refusal::HoldCooldown { left }
        } else {
            Refusal::SeatTaken
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Database;

    use super::*;

    /// On SQLite all others wait for the statement that takes a seat.
    #[tokio::test]
    async fn no_limit_reads_the_whole_history_of_a_user() {
        let directory = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}", directory.path().join("box.db").display());
        let database = Database::open(&url).await.unwrap();
        for (limit, index) in [
            (
                TICKETS,
                "r USING INDEX reservations_had_by_user (user_id=?)",
            ),
            (
                LET_GO_AT,
                "r USING INDEX reservations_by_user_and_seat (user_id=? AND seat_id=?)",
            ),
            (HELD_AT, "r USING INDEX reservations_by_user (user_id=?)"),
            (TAKEN, "r USING INDEX reservations_seat_once (seat_id=?)"),
        ] {
            let sql = format!("EXPLAIN QUERY PLAN SELECT {limit} FROM seats s WHERE s.id = $1");
            let plan: Vec<(i64, i64, i64, String)> =
                query_as(&sql).fetch_all(database.reader()).await.unwrap();
            let steps: Vec<_> = plan.into_iter().map(|(.., step)| step).collect();
            let used = steps.iter().any(|step| step.contains(index));
            assert!(used, "{limit}: {steps:?}");
        }
    }
}
