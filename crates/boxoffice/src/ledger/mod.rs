//! Points, in books that balance.
//!
//! A transfer moves points from one account to another and is never changed. A user's balance is kept
//! next to the account and moved in the same transaction.

mod books;
mod charge;

use ropeline_core::Timestamp;
use sqlx::query_scalar;

pub use books::Books;
pub use charge::Charged;

use crate::{Error, Points, Refusal, UserId, database::Session, time::millis};

/// Books points in from outside; gives the balance after it.
async fn credit(
    session: &mut Session<'_>,
    user: UserId,
    amount: Points,
    now: Timestamp,
) -> Result<Points, Error> {
    let balance = query_scalar(
        "UPDATE accounts SET balance = balance + $1 \
         WHERE user_id = $2 AND balance <= $3 RETURNING balance",
    )
    .bind(amount.get())
    .bind(user.0)
    .bind(Points::BALANCE_MAX.get() - amount.get())
    .fetch_optional(session.connection())
    .await?;
    let balance = balance.ok_or(Refusal::InvalidAmount)?;
    transfer(session, CHARGE, user, amount, now).await?;
    Ok(Points::stored(balance))
}

/// A user's points given to the house.
pub(crate) struct Debited {
    pub(crate) transfer: i64,
    pub(crate) balance: Points,
}

/// Books points out for a seat.
pub(crate) async fn debit(
    session: &mut Session<'_>,
    user: UserId,
    amount: Points,
    now: Timestamp,
) -> Result<Debited, Error> {
    let balance = query_scalar(
        "UPDATE accounts SET balance = balance - $1 \
         WHERE user_id = $2 AND balance >= $1 RETURNING balance",
    )
    .bind(amount.get())
    .bind(user.0)
    .fetch_optional(session.connection())
    .await?;
    let balance = balance.ok_or(Refusal::InsufficientPoints)?;
    Ok(Debited {
        transfer: transfer(session, PAYMENT, user, amount, now).await?,
        balance: Points::stored(balance),
    })
}

/// From the house to a user.
const CHARGE: &str = "INSERT INTO transfers (debit_account, credit_account, amount, reason, made_at) \
     SELECT house.id, buyer.id, $1, 'CHARGE', $2 FROM accounts house, accounts buyer \
     WHERE house.kind = 'CHARGES' AND buyer.user_id = $3 RETURNING id";
/// From a user to the house.
const PAYMENT: &str = "INSERT INTO transfers (debit_account, credit_account, amount, reason, made_at) \
     SELECT buyer.id, house.id, $1, 'PAYMENT', $2 FROM accounts house, accounts buyer \
     WHERE house.kind = 'SALES' AND buyer.user_id = $3 RETURNING id";

/// Writes down that points went from one account to another, which is never changed.
async fn transfer(
    session: &mut Session<'_>,
    between: &str,
    user: UserId,
    amount: Points,
    now: Timestamp,
) -> Result<i64, Error> {
    let id = query_scalar(between)
        .bind(amount.get())
        .bind(millis(now))
        .bind(user.0)
        .fetch_one(session.connection())
        .await?;
    Ok(id)
}
