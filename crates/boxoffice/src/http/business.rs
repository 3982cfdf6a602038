//! The pass follows the purchase: it lasts as long as its holder has business inside, and ends with the payment.
//!
//! Sales never wait for the room. What the room could not be told at once is told by the [workers](super::work).

use std::{
    collections::BTreeSet,
    sync::{Mutex as Lock, PoisonError},
    time::Duration,
};

use ropeline_gate::GateError;
use thiserror::Error as ThisError;
use tokio::{sync::Mutex, time::timeout};

use super::Service;
use crate::{Business, Error, IdempotencyKey, PassToFinish, Payment, ReservationId, UserId};

/// How long a buyer waits for the room to be told, once their seat is held or paid for.
const PATIENCE: Duration = Duration::from_millis(200);
/// More than can hold seats at once; what is beyond it ends with its hold.
const OWED_MAX: usize = 100_000;
/// So many users can be told of at once.
const TURNS: usize = 32;

/// Why the room was not told.
#[derive(Debug, ThisError)]
pub(super) enum Trouble {
    /// The database could not say what to tell, or did not take note that it was told.
    #[error(transparent)]
    Database(#[from] Error),
    /// The room could not be told.
    #[error(transparent)]
    Room(#[from] GateError),
}

impl Service {
    /// Makes a change to what a user holds, and then tells the room for how long they have business inside, which the
    /// change may know.
    ///
    /// Whatever becomes of the caller meanwhile, the room is told.
    pub(super) async fn then_keep<T>(
        &self,
        user: UserId,
        change: impl Future<Output = Result<T, Error>>,
        business: impl FnOnce(&T) -> Option<&Business>,
    ) -> Result<T, Error> {
        let debt = Debt::of(self, user);
        // What the change knows is the newest there is only if it was made in the user's turn. It does not wait for one:
        // whoever has it may be waiting for the room.
        let turn = self.owed.turn_of(user).try_lock().ok();
        let outcome = change.await;
        let settled = match &outcome {
            Ok(done) => {
                let known = turn.is_some().then(|| business(done)).flatten();
                let told = async {
                    if let Some(business) = known {
                        return self.tell(business).await;
                    }
                    drop(turn);
                    self.keep(user).await
                };
                matches!(timeout(PATIENCE, told).await, Ok(Ok(())))
            }
            Err(Error::Refused(_)) => true,
            Err(_) => false,
        };
        if settled {
            debt.settle();
        }
        outcome
    }

    /// Tells the room for how long a user has business inside, by what they hold now.
    pub(super) async fn keep(&self, user: UserId) -> Result<(), Trouble> {
        let _turn = self.owed.turn_of(user).lock().await;
        match self.office.business(user, self.now()).await? {
            Some(business) => self.tell(&business).await,
            None => Ok(()),
        }
    }

    async fn tell(&self, Business { pass, left }: &Business) -> Result<(), Trouble> {
        let left = left.unwrap_or_default();
        let kept = self.gatekeeper.keep(&pass.room, &pass.holder(), left).await;
        acknowledged(kept)
    }

    /// Pays, and finishes the pass if the payment was the last business that it served.
    pub(super) async fn pay(
        &self,
        user: UserId,
        reservation: ReservationId,
        key: Option<&IdempotencyKey>,
    ) -> Result<Payment, Error> {
        let paid = self.office.pay(user, reservation, key, self.now()).await?;
        if let Some(due) = &paid.finish {
            // Otherwise it is in the outbox.
            timeout(PATIENCE, self.finish(due)).await.ok();
        }
        Ok(paid.payment)
    }

    /// Finishes a pass, and takes note that the room has acknowledged it.
    pub(super) async fn finish(&self, due: &PassToFinish) -> Result<(), Trouble> {
        let pass = &due.pass;
        let finished = self.gatekeeper.finish(&pass.room, &pass.holder()).await;
        acknowledged(finished)?;
        Ok(self.office.finished(due.id, self.now()).await?)
    }
}

/// A room that is no more has no passes either.
fn acknowledged(told: Result<(), GateError>) -> Result<(), Trouble> {
    match told {
        Ok(()) | Err(GateError::NoSuchRoom) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Users whose business the room has not been told of.
#[derive(Debug, Default)]
pub(super) struct Owed {
    users: Lock<BTreeSet<UserId>>,
    /// What is told of a user is read and told by one at a time, so that the older never comes last.
    turns: [Mutex<()>; TURNS],
}

impl Owed {
    pub(super) fn extend(&self, users: impl IntoIterator<Item = UserId>) {
        let mut owed = self.users.lock().unwrap_or_else(PoisonError::into_inner);
        for user in users {
            if owed.len() < OWED_MAX {
                owed.insert(user);
            }
        }
    }

    /// One of them, who is no longer among them.
    pub(super) fn take(&self) -> Option<UserId> {
        let mut owed = self.users.lock().unwrap_or_else(PoisonError::into_inner);
        owed.pop_first()
    }

    fn turn_of(&self, user: UserId) -> &Mutex<()> {
        let index = user.0.unsigned_abs() % TURNS as u64;
        let index = usize::try_from(index).expect("there are few turns");
        &self.turns[index]
    }
}

/// The room has to be told of a user, unless this is settled.
struct Debt<'a> {
    service: &'a Service,
    user: Option<UserId>,
}

impl<'a> Debt<'a> {
    fn of(service: &'a Service, user: UserId) -> Self {
        let user = Some(user);
        Self { service, user }
    }

    fn settle(mut self) {
        self.user = None;
    }
}

impl Drop for Debt<'_> {
    fn drop(&mut self) {
        self.service.owed.extend(self.user.take());
    }
}
