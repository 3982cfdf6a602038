//! Looking at one's own reservations.

use std::time::Duration;

use ropeline_core::Timestamp;
use sqlx::query_as;

use crate::{BoxOffice, DateId, Error, Points, ReservationId, SeatId, UserId, time::moment};

/// The newest of a user's reservations that are listed.
const LISTED_MAX: i64 = 500;

/// A hold or a booking, or what has become of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reservation {
    /// Which reservation.
    pub id: ReservationId,
    /// Of which seat.
    pub seat: SeatId,
    /// On which date.
    pub date: DateId,
    /// The number on the seat.
    pub number: i64,
    /// What it costs.
    pub price: Points,
    /// What has become of it.
    pub state: ReservationState,
    /// When the hold ends or ended, unless paid by then.
    pub hold_until: Timestamp,
    /// How long the seat is held yet; zero once it is not.
    pub hold_left: Duration,
}

/// What has become of a reservation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ReservationState {
    /// The seat is kept until the hold ends.
    Held,
    /// The seat is bought.
    Paid,
    /// The hold ran out.
    Expired,
    /// The holder gave it up.
    Cancelled,
}

impl ReservationState {
    /// As the database and the API spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Held => "HELD",
            Self::Paid => "PAID",
            Self::Expired => "EXPIRED",
            Self::Cancelled => "CANCELLED",
        }
    }

    pub(crate) fn parse(text: &str) -> Result<Self, Error> {
        let all = [Self::Held, Self::Paid, Self::Expired, Self::Cancelled];
        let found = all.into_iter().find(|state| state.as_str() == text);
        found.ok_or(Error::Unexpected("state of a reservation"))
    }
}

impl BoxOffice {
    /// A user's reservations, the newest first. A hold that has run out is told as expired.
    pub async fn reservations(
        &self,
        user: UserId,
        now: Timestamp,
    ) -> Result<Vec<Reservation>, Error> {
        let now = self.database.now(now);
        let sql = format!(
            "SELECT r.id, s.id, s.date_id, s.number, r.price, r.state, r.hold_until, {} \
             FROM reservations r JOIN seats s ON s.id = r.seat_id \
             WHERE r.user_id = $1 ORDER BY r.id DESC LIMIT $3",
            now.sql("$2")
        );
        let rows: Vec<Row> = query_as(&sql)
            .bind(user.0)
            .bind(now.bound())
            .bind(LISTED_MAX)
            .fetch_all(self.database.reader())
            .await?;
        rows.into_iter().map(reservation).collect()
    }
}

/// Reservation, seat, date, number, price, state, end of the hold, current time.
type Row = (i64, i64, i64, i64, i64, String, i64, i64);

fn reservation(row: Row) -> Result<Reservation, Error> {
    let (id, seat, date, number, price, state, hold_until, now) = row;
    let state = match ReservationState::parse(&state)? {
        ReservationState::Held if hold_until <= now => ReservationState::Expired,
        state => state,
    };
    let (hold_until, now) = (moment(hold_until), moment(now));
    let hold_left = match state {
        ReservationState::Held => now.until(hold_until),
        _ => Duration::ZERO,
    };
    Ok(Reservation {
        id: ReservationId(id),
        seat: SeatId(seat),
        date: DateId(date),
        number,
        price: Points::stored(price),
        state,
        hold_until,
        hold_left,
    })
}
