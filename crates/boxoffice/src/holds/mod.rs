//! Seats held for a while.
//!
//! A hold lives until `hold_until` and is then as good as gone, though its row may still say HELD:
//! whoever takes the seat ends it first, in the same transaction. The sweep only tidies up.

mod business;
mod give_up;
mod limits;
mod list;
mod reserve;
mod sweep;

use ropeline_core::{Holder, Ordinal, RoomId, Timestamp, Visitor};
use sqlx::{query, query_as};

pub use business::Business;
pub use list::{Reservation, ReservationState};
pub use reserve::Held;
pub use sweep::Swept;

use crate::{
    Error, Points, Refusal, ReservationId, SeatId, UserId,
    database::Session,
    time::{millis, moment},
};

/// The pass that its holder reserved a seat with, and that a payment finishes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PassHeld {
    /// The room that let the holder in.
    pub room: RoomId,
    /// The holder, as the room knows them.
    pub visitor: Visitor,
    /// Tells this pass from an earlier or later one of the same visitor.
    pub ordinal: Ordinal,
}

impl PassHeld {
    /// What the database holds.
    pub(crate) fn stored(room: &str, visitor: &str, ordinal: i64) -> Result<Self, Error> {
        let ordinal = u64::try_from(ordinal).map_err(|_| Error::Unexpected("ordinal"))?;
        Ok(Self {
            room: RoomId::parse(room).map_err(|_| Error::Unexpected("room"))?,
            visitor: Visitor::parse(visitor).map_err(|_| Error::Unexpected("visitor"))?,
            ordinal: Ordinal(ordinal),
        })
    }

    /// The pass as the room is told of it.
    pub fn holder(&self) -> Holder {
        Holder {
            visitor: self.visitor.clone(),
            ordinal: self.ordinal,
        }
    }
}

/// A reservation that nobody else can change until the transaction ends.
pub(crate) struct Locked {
    pub(crate) seat: SeatId,
    pub(crate) state: ReservationState,
    pub(crate) price: Points,
    pub(crate) hold_until: Timestamp,
}

impl Locked {
    /// Whether it no longer holds the seat.
    pub(crate) fn is_over(&self, now: Timestamp) -> bool {
        self.state != ReservationState::Held || self.hold_until <= now
    }
}

/// Finds a reservation of the user and locks it. Another's is not found.
pub(crate) async fn lock_own(
    session: &mut Session<'_>,
    user: UserId,
    reservation: ReservationId,
) -> Result<Locked, Error> {
    let lock = session.dialect.for_update();
    let sql = format!(
        "SELECT seat_id, state, price, hold_until FROM reservations \
         WHERE id = $1 AND user_id = $2{lock}"
    );
    let row: Option<(i64, String, i64, i64)> = query_as(&sql)
        .bind(reservation.0)
        .bind(user.0)
        .fetch_optional(session.connection())
        .await?;
    let (seat, state, price, hold_until) = row.ok_or(Refusal::ReservationNotFound)?;
    Ok(Locked {
        seat: SeatId(seat),
        state: ReservationState::parse(&state)?,
        price: Points::stored(price),
        hold_until: moment(hold_until),
    })
}

/// Ends the hold on a seat if it has run out; says how many it was, which is one at most.
pub(crate) async fn end_expired(
    session: &mut Session<'_>,
    seat: SeatId,
    now: Timestamp,
) -> Result<u64, Error> {
    let ended = query(
        "UPDATE reservations SET state = 'EXPIRED' \
         WHERE seat_id = $1 AND state = 'HELD' AND hold_until <= $2",
    )
    .bind(seat.0)
    .bind(millis(now))
    .execute(session.connection())
    .await?;
    Ok(ended.rows_affected())
}

/// How many seats a user has.
pub(crate) struct Count {
    /// Live holds, of whatever date.
    pub(crate) holds: i64,
    /// Live holds and bought seats of one date.
    pub(crate) tickets: i64,
}

/// Counts what the user has now, in all and of the date of a seat.
pub(crate) async fn count(
    session: &mut Session<'_>,
    user: UserId,
    seat: SeatId,
    now: Timestamp,
) -> Result<Count, Error> {
    let (holds, tickets) = query_as(
        "SELECT COUNT(*) FILTER (WHERE r.state = 'HELD'), \
         COUNT(*) FILTER (WHERE s.date_id = (SELECT date_id FROM seats WHERE id = $3)) \
         FROM reservations r JOIN seats s ON s.id = r.seat_id \
         WHERE r.user_id = $1 AND (r.state = 'PAID' OR r.state = 'HELD' AND r.hold_until > $2)",
    )
    .bind(user.0)
    .bind(millis(now))
    .bind(seat.0)
    .fetch_one(session.connection())
    .await?;
    Ok(Count { holds, tickets })
}

/// Moves a reservation to another state.
pub(crate) async fn set_state(
    session: &mut Session<'_>,
    reservation: ReservationId,
    state: ReservationState,
) -> Result<(), sqlx::Error> {
    query("UPDATE reservations SET state = $2 WHERE id = $1")
        .bind(reservation.0)
        .bind(state.as_str())
        .execute(session.connection())
        .await?;
    Ok(())
}
