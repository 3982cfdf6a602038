//! Giving a seat back.

use ropeline_core::Timestamp;

use super::{ReservationState, lock_own, set_state};
use crate::{
    BoxOffice, Error, Refusal, ReservationId, UserId,
    database::{Session, Work},
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
        let next = match hold.state {
            ReservationState::Paid => return Err(Refusal::AlreadyPaid.into()),
            ReservationState::Cancelled | ReservationState::Expired => return Ok(()),
            // It ended by itself, and may yet be paid for if nobody takes the seat.
            ReservationState::Held if hold.hold_until <= now => ReservationState::Expired,
            ReservationState::Held => ReservationState::Cancelled,
        };
        set_state(session, self.reservation, next).await?;
        Ok(())
    }
}
