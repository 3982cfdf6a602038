//! Taking a seat.

use ropeline_core::{Ordinal, Timestamp};
use sqlx::{query, query_as, query_scalar};

use super::{PassHeld, Reservation, ReservationState, end_expired};
use crate::{
    BoxOffice, DateId, Error, Points, Refusal, ReservationId, Rules, SeatId, UserId,
    database::{Session, Work},
    time::{millis, moment},
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
            pass: pass.cloned(),
            rules: self.rules,
            now,
        };
        self.database.write(reserve).await
    }
}

struct Reserve {
    user: UserId,
    seat: SeatId,
    pass: Option<PassHeld>,
    rules: Rules,
    now: Timestamp,
}

/// What there is when a seat is asked for, seen in one look.
struct Found {
    seat: Offered,
    /// The user's own live hold on it.
    own: Option<Reservation>,
    /// How many seats the user holds now.
    live: i64,
    /// How many of these follow another pass than this one.
    astray: i64,
}

/// What a reservation takes over from its seat.
struct Offered {
    date: DateId,
    number: i64,
    price: Points,
}

impl Work for Reserve {
    type Done = Reservation;

    async fn carry_out(&self, session: &mut Session<'_>) -> Result<Reservation, Error> {
        session.lock_user(self.user).await?;
        let found = self.look(session).await?;
        if found.astray > 0 {
            self.hand_over(session).await?;
        }
        if let Some(own) = found.own {
            return Ok(own);
        }
        if found.live >= i64::from(self.rules.holds_max) {
            return Err(Refusal::HoldLimit.into());
        }
        let id = self.take(session, &found.seat).await?;
        Ok(self.held(id, &found.seat, self.hold_until()))
    }
}

/// Date, number and price of the seat; number, price and end of the own hold; holds, and holds astray.
type Row = (
    i64,
    i64,
    i64,
    Option<i64>,
    Option<i64>,
    Option<i64>,
    i64,
    i64,
);

impl Reserve {
    async fn look(&self, session: &mut Session<'_>) -> Result<Found, Error> {
        let row: Option<Row> = query_as(
            "SELECT s.date_id, s.number, s.price, own.id, own.price, own.hold_until, \
             (SELECT COUNT(*) FROM reservations \
               WHERE user_id = $2 AND state = 'HELD' AND hold_until > $3), \
             (SELECT COUNT(*) FROM reservations \
               WHERE user_id = $2 AND state = 'HELD' AND hold_until > $3 \
               AND (pass_ordinal IS NULL OR pass_ordinal <> $4 OR pass_room <> $5)) \
             FROM seats s LEFT JOIN reservations own ON own.seat_id = s.id \
               AND own.user_id = $2 AND own.state = 'HELD' AND own.hold_until > $3 \
             WHERE s.id = $1",
        )
        .bind(self.seat.0)
        .bind(self.user.0)
        .bind(millis(self.now))
        .bind(self.pass.as_ref().map(|pass| stored(pass.ordinal)))
        .bind(self.pass.as_ref().map(|pass| pass.room.as_str()))
        .fetch_optional(session.connection())
        .await?;
        let row = row.ok_or(Refusal::SeatNotFound)?;
        Ok(self.found(row))
    }

    fn found(&self, row: Row) -> Found {
        let (date, number, price, own, own_price, own_end, live, astray) = row;
        let seat = Offered {
            date: DateId(date),
            number,
            price: Points::stored(price),
        };
        let own = own.zip(own_price).zip(own_end);
        let own = own.map(|((id, price), end)| Reservation {
            price: Points::stored(price),
            ..self.held(ReservationId(id), &seat, moment(end))
        });
        Found {
            seat,
            own,
            live,
            astray,
        }
    }

    /// Lets the user's live holds follow the pass that they are inside with now.
    async fn hand_over(&self, session: &mut Session<'_>) -> Result<(), Error> {
        let Some(pass) = &self.pass else {
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

    /// Takes the seat; from a hold that has run out if need be.
    async fn take(
        &self,
        session: &mut Session<'_>,
        seat: &Offered,
    ) -> Result<ReservationId, Error> {
        if let Some(id) = self.insert(session, seat).await? {
            return Ok(id);
        }
        if end_expired(session, self.seat, self.now).await? == 0 {
            return Err(Refusal::SeatTaken.into());
        }
        let id = self.insert(session, seat).await?;
        id.ok_or(Refusal::SeatTaken.into())
    }

    /// The unique index on seats that are held or paid decides who gets it. There is no other check,
    /// so there is nothing between a check and its act. None if the seat is not to be had.
    async fn insert(
        &self,
        session: &mut Session<'_>,
        seat: &Offered,
    ) -> Result<Option<ReservationId>, Error> {
        let pass = self.pass.as_ref();
        let ordinal = pass.map(|pass| stored(pass.ordinal));
        let id: Option<i64> = query_scalar(
            "INSERT INTO reservations (seat_id, user_id, state, price, held_at, hold_until, \
             pass_room, pass_visitor, pass_ordinal) \
             VALUES ($1, $2, 'HELD', $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING RETURNING id",
        )
        .bind(self.seat.0)
        .bind(self.user.0)
        .bind(seat.price.get())
        .bind(millis(self.now))
        .bind(millis(self.hold_until()))
        .bind(pass.map(|pass| pass.room.as_str()))
        .bind(pass.map(|pass| pass.visitor.as_str()))
        .bind(ordinal)
        .fetch_optional(session.connection())
        .await?;
        Ok(id.map(ReservationId))
    }

    fn held(&self, id: ReservationId, seat: &Offered, hold_until: Timestamp) -> Reservation {
        Reservation {
            id,
            seat: self.seat,
            date: seat.date,
            number: seat.number,
            price: seat.price,
            state: ReservationState::Held,
            hold_until,
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
