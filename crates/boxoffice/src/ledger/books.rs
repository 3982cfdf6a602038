//! Whether the books are right.

use sqlx::query_as;

use crate::{BoxOffice, Error};

/// What everything adds up to, read at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Books {
    /// The sum of all users' balances.
    pub balances: i64,
    /// All points that were ever charged.
    pub charged: i64,
    /// All points that were ever paid.
    pub paid: i64,
    /// The lowest balance of a user.
    pub lowest: i64,
    /// How many accounts do not have the balance that their transfers add up to.
    pub accounts_wrong: i64,
    /// How many paid reservations have no payment of their price, and payments no paid reservation.
    pub payments_wrong: i64,
    /// How many seats are held or paid more than once.
    pub seats_twice: i64,
}

impl Books {
    /// The sum over all accounts, the house's included. It is zero as long as the books are right.
    pub fn sum(&self) -> i64 {
        self.balances + self.paid - self.charged
    }

    /// Whether every promise about points and seats holds.
    pub fn are_right(&self) -> bool {
        let wrong = [
            self.sum(),
            self.accounts_wrong,
            self.payments_wrong,
            self.seats_twice,
        ];
        self.lowest >= 0 && wrong.iter().all(|&count| count == 0)
    }
}

impl BoxOffice {
    /// Adds everything up. It reads all transfers: for a nightly check, not for every request.
    pub async fn books(&self) -> Result<Books, Error> {
        let row: (i64, i64, i64, i64, i64, i64, i64) =
            query_as(SUMS).fetch_one(self.database.reader()).await?;
        let (balances, charged, paid, lowest, accounts_wrong, payments_wrong, seats_twice) = row;
        Ok(Books {
            balances,
            charged,
            paid,
            lowest,
            accounts_wrong,
            payments_wrong,
            seats_twice,
        })
    }
}

/// One statement sees one moment on both databases. PostgreSQL adds up to NUMERIC, hence the casts.
const SUMS: &str = "
SELECT
  CAST((SELECT COALESCE(SUM(balance), 0) FROM accounts WHERE kind = 'USER') AS BIGINT),
  CAST((SELECT COALESCE(SUM(amount), 0) FROM transfers WHERE reason = 'CHARGE') AS BIGINT),
  CAST((SELECT COALESCE(SUM(amount), 0) FROM transfers WHERE reason = 'PAYMENT') AS BIGINT),
  CAST((SELECT COALESCE(MIN(balance), 0) FROM accounts WHERE kind = 'USER') AS BIGINT),
  (SELECT COUNT(*) FROM accounts a WHERE a.kind = 'USER' AND a.balance <>
    (SELECT COALESCE(SUM(t.amount), 0) FROM transfers t WHERE t.credit_account = a.id) -
    (SELECT COALESCE(SUM(t.amount), 0) FROM transfers t WHERE t.debit_account = a.id)),
  (SELECT COUNT(*) FROM reservations r WHERE r.state = 'PAID' AND NOT EXISTS
    (SELECT 1 FROM payments p JOIN transfers t ON t.id = p.transfer_id
      WHERE p.reservation_id = r.id AND p.amount = r.price AND t.amount = r.price)) +
  (SELECT COUNT(*) FROM payments p JOIN reservations r ON r.id = p.reservation_id
    WHERE r.state <> 'PAID') +
  (SELECT COUNT(*) FROM transfers t WHERE t.reason = 'PAYMENT' AND NOT EXISTS
    (SELECT 1 FROM payments p WHERE p.transfer_id = t.id)),
  (SELECT COUNT(*) FROM (SELECT seat_id FROM reservations WHERE state IN ('HELD', 'PAID')
    GROUP BY seat_id HAVING COUNT(*) > 1) twice)";
