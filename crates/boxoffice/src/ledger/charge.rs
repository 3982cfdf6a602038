//! Charging points.

use ropeline_core::Timestamp;
use serde::{Deserialize, Serialize};

use super::credit;
use crate::{
    BoxOffice, Error, IdempotencyKey, Points, UserId,
    database::{Session, Work},
    keys::Repeatable,
};

/// Points that were charged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Charged {
    /// How many.
    pub charged: Points,
    /// What the user had right after it.
    pub balance: Points,
}

impl BoxOffice {
    /// Adds points to a user's account, once for each key.
    pub async fn charge(
        &self,
        user: UserId,
        amount: Points,
        key: Option<&IdempotencyKey>,
        now: Timestamp,
    ) -> Result<Charged, Error> {
        let request = Repeatable::new(user, key, &format!("charge {amount}"));
        let charge = Charge {
            user,
            amount,
            request,
        };
        self.database.write(charge, now).await
    }
}

struct Charge {
    user: UserId,
    amount: Points,
    request: Repeatable,
}

impl Work for Charge {
    type Done = Charged;

    async fn carry_out(&self, session: &mut Session<'_>) -> Result<Charged, Error> {
        session.lock_user(self.user).await?;
        if let Some(before) = self.request.recall(session).await? {
            return Ok(before);
        }
        let now = session.now().await?;
        let charged = Charged {
            charged: self.amount,
            balance: credit(session, self.user, self.amount, now).await?,
        };
        self.request.remember(session, &charged, now).await?;
        Ok(charged)
    }
}
