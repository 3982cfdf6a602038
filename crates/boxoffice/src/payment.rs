//! Paying for a seat.

use ropeline_core::Timestamp;
use serde::{Deserialize, Serialize};
use sqlx::{query_as, query_scalar};

use crate::{
    BoxOffice, Error, IdempotencyKey, PassToFinish, PaymentId, Points, Refusal, ReservationId,
    ReservationState, Rules, UserId,
    database::{Session, Work},
    holds::{self, Locked},
    keys::Repeatable,
    ledger::debit,
    outbox,
    time::{millis, moment},
};

/// A payment, the same however often it is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Payment {
    /// Which payment.
    pub id: PaymentId,
    /// For which reservation.
    pub reservation: ReservationId,
    /// How many points.
    pub amount: Points,
    /// What the user had left right after it.
    pub balance: Points,
    /// When.
    pub paid_at: Timestamp,
}

/// What paying has done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paid {
    /// The payment.
    pub payment: Payment,
    /// The pass that this payment, and not an earlier one, was the last use of. It is in the outbox;
    /// whoever finishes it at once saves the next visitor a wait.
    pub finish: Option<PassToFinish>,
}

impl BoxOffice {
    /// Pays a user's reservation with points and turns the hold into a booking, once however often it
    /// is asked for.
    ///
    /// After the hold has run out it is honoured for as long as the rules say, if nobody else has the seat and the
    /// user is within the limits of a new hold. It is refused otherwise, with the points untouched.
    ///
    /// If it leaves the user with no live hold, the pass that the seat was reserved with goes to the outbox in the
    /// same transaction.
    pub async fn pay(
        &self,
        user: UserId,
        reservation: ReservationId,
        key: Option<&IdempotencyKey>,
        now: Timestamp,
    ) -> Result<Paid, Error> {
        let request = Repeatable::new(user, key, &format!("pay {reservation}"));
        let pay = Pay {
            user,
            reservation,
            request,
            rules: self.rules,
        };
        self.database.write(pay, now).await
    }
}

struct Pay {
    user: UserId,
    reservation: ReservationId,
    request: Repeatable,
    rules: Rules,
}

impl Work for Pay {
    type Done = Paid;

    async fn carry_out(&self, session: &mut Session<'_>) -> Result<Paid, Error> {
        session.lock_user(self.user).await?;
        if let Some(payment) = self.request.recall(session).await? {
            return Ok(repeated(payment));
        }
        let now = session.now().await?;
        let hold = holds::lock_own(session, self.user, self.reservation).await?;
        let paid = match hold.state {
            ReservationState::Cancelled => return Err(Refusal::HoldGivenUp.into()),
            ReservationState::Paid => repeated(self.earlier(session).await?),
            ReservationState::Held | ReservationState::Expired => {
                self.settle(session, &hold, now).await?
            }
        };
        self.request.remember(session, &paid.payment, now).await?;
        Ok(paid)
    }
}

impl Pay {
    async fn settle(
        &self,
        session: &mut Session<'_>,
        hold: &Locked,
        now: Timestamp,
    ) -> Result<Paid, Error> {
        if now >= hold.hold_until + self.rules.late_payment {
            return Err(Refusal::HoldExpired.into());
        }
        self.book(session, hold, now).await?;
        let has = holds::count(session, self.user, hold.seat, now).await?;
        if hold.is_over(now) {
            self.judge_late(&has)?;
        }
        let payment = self.take_points(session, hold.price, now).await?;
        let finish = if has.holds == 0 {
            outbox::put(session, self.reservation, now).await?
        } else {
            None
        };
        Ok(Paid { payment, finish })
    }

    /// Paying for a hold that is over is like holding the seat again: nobody gets past a limit by paying late. The
    /// seat is booked already, and an error undoes that.
    fn judge_late(&self, has: &holds::Count) -> Result<(), Refusal> {
        if has.tickets > i64::from(self.rules.tickets_max) {
            Err(Refusal::TicketLimit)
        } else if has.holds >= i64::from(self.rules.holds_max) {
            Err(Refusal::HoldLimit)
        } else {
            Ok(())
        }
    }

    /// Makes the seat the user's own. If the hold has run out, the unique index on seats that are held
    /// or paid tells whether somebody else was faster.
    async fn book(
        &self,
        session: &mut Session<'_>,
        hold: &Locked,
        now: Timestamp,
    ) -> Result<(), Error> {
        holds::end_expired(session, hold.seat, now).await?;
        let booked = holds::set_state(session, self.reservation, ReservationState::Paid).await;
        booked.map_err(|error| match error {
            sqlx::Error::Database(judged) if judged.is_unique_violation() => {
                Refusal::HoldExpired.into()
            }
            other => other.into(),
        })
    }

    async fn take_points(
        &self,
        session: &mut Session<'_>,
        price: Points,
        now: Timestamp,
    ) -> Result<Payment, Error> {
        let debited = debit(session, self.user, price, now).await?;
        let id = query_scalar(
            "INSERT INTO payments (reservation_id, transfer_id, amount, balance_after, paid_at) \
             VALUES ($1, $2, $3, $4, $5) RETURNING id",
        )
        .bind(self.reservation.0)
        .bind(debited.transfer)
        .bind(price.get())
        .bind(debited.balance.get())
        .bind(millis(now))
        .fetch_one(session.connection())
        .await?;
        Ok(Payment {
            id: PaymentId(id),
            reservation: self.reservation,
            amount: price,
            balance: debited.balance,
            paid_at: now,
        })
    }

    async fn earlier(&self, session: &mut Session<'_>) -> Result<Payment, Error> {
        let row: (i64, i64, i64, i64) = query_as(
            "SELECT id, amount, balance_after, paid_at FROM payments WHERE reservation_id = $1",
        )
        .bind(self.reservation.0)
        .fetch_one(session.connection())
        .await?;
        let (id, amount, balance, paid_at) = row;
        Ok(Payment {
            id: PaymentId(id),
            reservation: self.reservation,
            amount: Points::stored(amount),
            balance: Points::stored(balance),
            paid_at: moment(paid_at),
        })
    }
}

fn repeated(payment: Payment) -> Paid {
    Paid {
        payment,
        finish: None,
    }
}
