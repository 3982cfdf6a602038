//! Proof of a payment.

use ropeline_core::Timestamp;
use sqlx::query_as;

use crate::{
    BoxOffice, Error, PaymentId, Points, Refusal, ReservationId, UserId, Zone, time::moment,
};

/// What was bought, and what was paid for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    /// For which reservation.
    pub reservation: ReservationId,
    /// Which payment.
    pub payment: PaymentId,
    /// The concert's title.
    pub title: String,
    /// What its place is called, if anybody has said it.
    pub venue: Option<String>,
    /// By which clocks its times are told.
    pub zone: Zone,
    /// When it begins.
    pub starts_at: Timestamp,
    /// The number on the seat.
    pub number: i64,
    /// What was paid.
    pub amount: Points,
    /// What the user had left right after it.
    pub balance: Points,
    /// When it was paid.
    pub paid_at: Timestamp,
}

/// Payment, title, venue, zone, beginning, number, amount, balance, time.
type Row = (i64, String, Option<String>, String, i64, i64, i64, i64, i64);

impl BoxOffice {
    /// The receipt of a reservation that the user has paid for. Another's is not found, nor is one not paid for.
    pub async fn receipt(
        &self,
        user: UserId,
        reservation: ReservationId,
    ) -> Result<Receipt, Error> {
        let row: Option<Row> = query_as(
            "SELECT p.id, c.title, c.venue, c.time_zone, d.starts_at, s.number, p.amount, p.balance_after, p.paid_at \
             FROM reservations r JOIN payments p ON p.reservation_id = r.id \
             JOIN seats s ON s.id = r.seat_id JOIN concert_dates d ON d.id = s.date_id \
             JOIN concerts c ON c.id = d.concert_id WHERE r.id = $1 AND r.user_id = $2",
        )
        .bind(reservation.0)
        .bind(user.0)
        .fetch_optional(self.database.reader())
        .await?;
        let row = row.ok_or(Refusal::ReservationNotFound)?;
        let (payment, title, venue, zone, starts_at, number, amount, balance, paid_at) = row;
        Ok(Receipt {
            reservation,
            payment: PaymentId(payment),
            title,
            venue,
            zone: Zone::stored(&zone),
            starts_at: moment(starts_at),
            number,
            amount: Points::stored(amount),
            balance: Points::stored(balance),
            paid_at: moment(paid_at),
        })
    }
}
