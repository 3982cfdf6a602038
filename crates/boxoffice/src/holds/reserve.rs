//! Taking a seat.

use ropeline_core::{Ordinal, Timestamp};
use sqlx::{query, query_as, query_scalar};

use super::{
    PassHeld, Reservation, ReservationState, count_live, end_expired,
    list::{Row, reservation},
};
use crate::{
    BoxOffice, DateId, Error, Points, Refusal, ReservationId, Rules, SeatId, UserId,
    database::{Session, Work},
    time::millis,
};

impl BoxOffice {
    /// Holds a seat for a user, for as long as the rules say.
    ///
    /// A hold of another that has run out is ended on the way. The user's own live hold on the seat is
    /// answered as it is, so that a double click is one hold; its end does not move. Whoever has come in
    /// again with another pass than before has all their live holds follow that one.
    pub async fn reserve(
        &self,
        user: UserId,
        seat: SeatId,
        pass: Option<&PassHeld>,
        now: Timestamp,
    ) -> Result<Reservation, Error> {
        let reserve = Reserve {
            user,
            seat,
            pass,
            rules: self.rules,
            now,
        };
        self.database.write(&reserve).await
    }
}

struct Reserve<'a> {
    user: UserId,
    seat: SeatId,
    pass: Option<&'a PassHeld>,
    rules: Rules,
    now: Timestamp,
}

/// What a reservation takes over from its seat.
struct Offered {
    date: DateId,
    number: i64,
    price: Points,
}

impl Work for Reserve<'_> {
    type Done = Reservation;

    async fn carry_out(&self, session: &mut Session) -> Result<Reservation, Error> {
        session.lock_user(self.user).await?;
        let offered = self.offered(session).await?;
        self.hand_over(session).await?;
        if let Some(own) = self.own_hold(session).await? {
            return Ok(own);
        }
        if count_live(session, self.user, self.now).await? >= i64::from(self.rules.holds_max) {
            return Err(Refusal::HoldLimit.into());
        }
        end_expired(session, self.seat, self.now).await?;
        let id = self.insert(session, &offered).await?;
        Ok(self.held(id, &offered))
    }
}

impl Reserve<'_> {
    async fn offered(&self, session: &mut Session) -> Result<Offered, Error> {
        let row = query_as("SELECT date_id, number, price FROM seats WHERE id = $1")
            .bind(self.seat.0)
            .fetch_optional(session.connection())
            .await?;
        let (date, number, price): (i64, i64, i64) = row.ok_or(Refusal::SeatNotFound)?;
        Ok(Offered {
            date: DateId(date),
            number,
            price: Points::stored(price),
        })
    }

    async fn own_hold(&self, session: &mut Session) -> Result<Option<Reservation>, Error> {
        let row: Option<Row> = query_as(
            "SELECT r.id, s.id, s.date_id, s.number, r.price, r.state, r.hold_until \
             FROM reservations r JOIN seats s ON s.id = r.seat_id \
             WHERE r.seat_id = $1 AND r.user_id = $2 AND r.state = 'HELD' AND r.hold_until > $3",
        )
        .bind(self.seat.0)
        .bind(self.user.0)
        .bind(millis(self.now))
        .fetch_optional(session.connection())
        .await?;
        row.map(reservation).transpose()
    }

    /// Lets the user's live holds follow the pass that they are inside with now.
    async fn hand_over(&self, session: &mut Session) -> Result<(), Error> {
        let Some(pass) = self.pass else {
            return Ok(());
        };
        query(
            "UPDATE reservations SET pass_room = $3, pass_visitor = $4, pass_ordinal = $5 \
             WHERE user_id = $1 AND state = 'HELD' AND hold_until > $2 \
             AND (pass_ordinal IS NULL OR pass_ordinal <> $5 OR pass_room <> $3)",
        )
        .bind(self.user.0)
        .bind(millis(self.now))
        .bind(pass.room.as_str())
        .bind(pass.visitor.as_str())
        .bind(stored(pass.ordinal))
        .execute(session.connection())
        .await?;
        Ok(())
    }

    /// The unique index on seats that are held or paid decides who gets it. There is no other check,
    /// so there is nothing between a check and its act.
    async fn insert(
        &self,
        session: &mut Session,
        offered: &Offered,
    ) -> Result<ReservationId, Error> {
        let pass = self.pass;
        let ordinal = pass.map(|pass| stored(pass.ordinal));
        let id = query_scalar(
            "INSERT INTO reservations (seat_id, user_id, state, price, held_at, hold_until, \
             pass_room, pass_visitor, pass_ordinal) \
             VALUES ($1, $2, 'HELD', $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING RETURNING id",
        )
        .bind(self.seat.0)
        .bind(self.user.0)
        .bind(offered.price.get())
        .bind(millis(self.now))
        .bind(millis(self.hold_until()))
        .bind(pass.map(|pass| pass.room.as_str()))
        .bind(pass.map(|pass| pass.visitor.as_str()))
        .bind(ordinal)
        .fetch_optional(session.connection())
        .await?;
        let id = id.ok_or(Refusal::SeatTaken)?;
        Ok(ReservationId(id))
    }

    fn held(&self, id: ReservationId, offered: &Offered) -> Reservation {
        Reservation {
            id,
            seat: self.seat,
            date: offered.date,
            number: offered.number,
            price: offered.price,
            state: ReservationState::Held,
            hold_until: self.hold_until(),
        }
    }

    fn hold_until(&self) -> Timestamp {
        self.now + self.rules.hold_ttl
    }
}

/// No room comes to an ordinal that no column can hold.
fn stored(ordinal: Ordinal) -> i64 {
    i64::try_from(ordinal.0).unwrap_or(i64::MAX)
}
