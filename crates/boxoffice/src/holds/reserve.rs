//! Taking a seat.

use ropeline_core::{Ordinal, Timestamp};
use sqlx::query_as;

use super::{
    Business, PassHeld, Reservation, ReservationState, end_expired,
    limits::{Bounds, HELD_AT, LET_GO_AT, Obstacles, TICKETS},
};
use crate::{
    BoxOffice, DateId, Error, Points, Refusal, ReservationId, Rules, SeatId, UserId,
    database::{Session, Work},
    time::{millis, moment},
};

/// A seat that is held, and what its holder has left to do inside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// The hold on the seat.
    pub reservation: Reservation,
    /// None if it was reserved without a pass.
    pub business: Option<Business>,
}

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
        let held = self.hold(user, seat, pass, now).await?;
        Ok(held.reservation)
    }

    /// As [`BoxOffice::reserve`], and says what the user has left to do inside, which is not worth another question.
    pub async fn hold(
        &self,
        user: UserId,
        seat: SeatId,
        pass: Option<&PassHeld>,
        now: Timestamp,
    ) -> Result<Held, Error> {
        let reserve = Reserve {
            user,
            seat,
            pass: pass.cloned(),
            rules: self.rules,
        };
        self.database.write(reserve, now).await
    }
}

struct Reserve {
    user: UserId,
    seat: SeatId,
    pass: Option<PassHeld>,
    rules: Rules,
}

/// Every statement is a way to the database and back, and on SQLite everybody else waits meanwhile: so there are two
/// where nothing is unusual.
impl Work for Reserve {
    type Done = Held;

    async fn carry_out(&self, session: &mut Session<'_>) -> Result<Held, Error> {
        session.lock_user_among_writers(self.user).await?;
        let now = session.now().await?;
        let live = self.hand_over(session, now).await?;
        let own = live.iter().find(|hold| hold.seat == self.seat);
        let reservation = match own {
            Some(own) => self.own(session, own, now).await?,
            None => self.take(session, live.len(), now).await?,
        };
        let ends = live.iter().map(|hold| hold.until);
        let until = ends.chain([reservation.hold_until]).max();
        let left = until.map(|until| now.until(until));
        let business = self.pass.clone().map(|pass| Business { pass, left });
        Ok(Held {
            reservation,
            business,
        })
    }
}

/// A seat that the user holds now.
struct LiveHold {
    id: ReservationId,
    seat: SeatId,
    price: Points,
    until: Timestamp,
}

impl Reserve {
    /// Lets the user's live holds follow the pass that they are inside with now, and gives all of these holds. The state
    /// is named twice for the sake of the partial index.
    async fn hand_over(
        &self,
        session: &mut Session<'_>,
        now: Timestamp,
    ) -> Result<Vec<LiveHold>, Error> {
        let pass = self.pass.as_ref();
        let rows: Vec<(i64, i64, i64, i64)> = query_as(
            "UPDATE reservations SET pass_room = COALESCE($3, pass_room), \
             pass_visitor = COALESCE($4, pass_visitor), pass_ordinal = COALESCE($5, pass_ordinal) \
             WHERE user_id = $1 AND state IN ('HELD', 'PAID') AND state = 'HELD' AND hold_until > $2 \
             RETURNING id, seat_id, price, hold_until",
        )
        .bind(self.user.0)
        .bind(millis(now))
        .bind(pass.map(|pass| pass.room.as_str()))
        .bind(pass.map(|pass| pass.visitor.as_str()))
        .bind(pass.map(|pass| stored(pass.ordinal)))
        .fetch_all(session.connection())
        .await?;
        let hold = |(id, seat, price, until)| LiveHold {
            id: ReservationId(id),
            seat: SeatId(seat),
            price: Points::stored(price),
            until: moment(until),
        };
        Ok(rows.into_iter().map(hold).collect())
    }

    /// The user's own live hold on the seat, as it is.
    async fn own(
        &self,
        session: &mut Session<'_>,
        hold: &LiveHold,
        now: Timestamp,
    ) -> Result<Reservation, Error> {
        let place = query_as("SELECT date_id, number FROM seats WHERE id = $1")
            .bind(self.seat.0)
            .fetch_one(session.connection())
            .await?;
        Ok(self.held(hold.id, place, hold.price, hold.until, now))
    }

    /// Takes the seat for a user who holds so many; from a hold that has run out if need be.
    async fn take(
        &self,
        session: &mut Session<'_>,
        holds: usize,
        now: Timestamp,
    ) -> Result<Reservation, Error> {
        if holds < self.rules.holds_max as usize {
            if let Some(held) = self.insert(session, now).await? {
                return Ok(held);
            }
            if end_expired(session, self.seat, now).await? > 0
                && let Some(held) = self.insert(session, now).await?
            {
                return Ok(held);
            }
        }
        Err(self.why_not(session, holds, now).await?.into())
    }

    /// The unique index on seats that are held or paid decides who gets it, and the limits of the user, who is
    /// locked, are judged in the same statement: there is nothing between a check and its act. None if the seat is
    /// not to be had.
    async fn insert(
        &self,
        session: &mut Session<'_>,
        now: Timestamp,
    ) -> Result<Option<Reservation>, Error> {
        let (pass, until) = (self.pass.as_ref(), now + self.rules.hold_ttl);
        let bounds = Bounds::at(&self.rules, now);
        let sql = format!(
            "INSERT INTO reservations (seat_id, user_id, state, price, held_at, hold_until, \
             pass_room, pass_visitor, pass_ordinal) \
             SELECT s.id, u.id, 'HELD', s.price, $3, $5, $6, $7, $8 \
             FROM seats s JOIN users u ON u.id = $2 WHERE s.id = $1 \
             AND {TICKETS} < $9 AND {LET_GO_AT} <= $10 AND {HELD_AT} <= $11 \
             ON CONFLICT DO NOTHING \
             RETURNING id, price, (SELECT date_id FROM seats WHERE id = seat_id), \
             (SELECT number FROM seats WHERE id = seat_id)"
        );
        let row: Option<(i64, i64, i64, i64)> = query_as(&sql)
            .bind(self.seat.0)
            .bind(self.user.0)
            .bind(millis(now))
            .bind(bounds.holds_since)
            .bind(millis(until))
            .bind(pass.map(|pass| pass.room.as_str()))
            .bind(pass.map(|pass| pass.visitor.as_str()))
            .bind(pass.map(|pass| stored(pass.ordinal)))
            .bind(bounds.tickets_max)
            .bind(bounds.let_go_by)
            .bind(bounds.held_by)
            .fetch_optional(session.connection())
            .await?;
        Ok(row.map(|(id, price, date, number)| {
            self.held(
                ReservationId(id),
                (date, number),
                Points::stored(price),
                until,
                now,
            )
        }))
    }

    /// Why a user who holds so many seats cannot hold this one.
    async fn why_not(
        &self,
        session: &mut Session<'_>,
        holds: usize,
        now: Timestamp,
    ) -> Result<Refusal, Error> {
        session.lock_user(self.user).await?;
        let found = Obstacles::find(session, (self.user, self.seat), &self.rules, now).await?;
        Ok(found.map_or(Refusal::SeatNotFound, |obstacles| {
            obstacles.refusal(holds, &self.rules, now)
        }))
    }

    fn held(
        &self,
        id: ReservationId,
        (date, number): (i64, i64),
        price: Points,
        hold_until: Timestamp,
        now: Timestamp,
    ) -> Reservation {
        Reservation {
            id,
            seat: self.seat,
            date: DateId(date),
            number,
            price,
            state: ReservationState::Held,
            hold_until,
            hold_left: now.until(hold_until),
        }
    }
}

/// No room comes to an ordinal that no column can hold.
fn stored(ordinal: Ordinal) -> i64 {
    i64::try_from(ordinal.0).unwrap_or(i64::MAX)
}
