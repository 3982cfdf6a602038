//! Giving a seat back.

use ropeline_core::Timestamp;
use sqlx::query;

use super::{ReservationState, lock_own, set_state};
use crate::{
    BoxOffice, Error, Refusal, ReservationId, UserId,
    database::{Session, Work},
    time::millis,
};

impl BoxOffice {
    /// Ends a user's own hold at once, and does nothing to one that has ended. What is paid stays.
    pub async fn give_up(
        &self,
        user: UserId,
        reservation: ReservationId,
        now: Timestamp,
    ) -> Result<(), Error> {
        let give_up = GiveUp { user, reservation };
        self.database.write(give_up, now).await
    }
}

struct GiveUp {
    user: UserId,
    reservation: ReservationId,
}

impl Work for GiveUp {
    type Done = ();

    async fn carry_out(&self, session: &mut Session<'_>) -> Result<(), Error> {
        session.lock_user(self.user).await?;
        let now = session.now().await?;
        let hold = lock_own(session, self.user, self.reservation).await?;
        match hold.state {
            ReservationState::Paid => Err(Refusal::AlreadyPaid.into()),
            ReservationState::Cancelled | ReservationState::Expired => Ok(()),
            // It ended by itself, and may yet be paid for if nobody takes the seat.
            ReservationState::Held if hold.hold_until <= now => {
                set_state(session, self.reservation, ReservationState::Expired).await?;
                Ok(())
            }
            ReservationState::Held => self.cancel(session, now).await,
        }
    }
}

impl GiveUp {
    /// Ends the hold now, so that its user waits from now on before holding the seat again. A hold has a length, also
    /// one that is given up in the millisecond in which it began.
    async fn cancel(&self, session: &mut Session<'_>, now: Timestamp) -> Result<(), Error> {
        query(
            "UPDATE reservations SET state = 'CANCELLED', \
             hold_until = CASE WHEN held_at < $2 THEN $2 ELSE held_at + 1 END WHERE id = $1",
        )
        .bind(self.reservation.0)
        .bind(millis(now))
        .execute(session.connection())
        .await?;
        Ok(())
    }
}
