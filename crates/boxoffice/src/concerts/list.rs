//! Looking at what is for sale. A hold that has run out leaves its seat free, swept or not.

use ropeline_core::Timestamp;
use sqlx::{query_as, query_scalar};

use crate::{BoxOffice, ConcertId, DateId, Error, Points, Refusal, SeatId, Zone, time::moment};

/// More dates than this are not on sale at once.
const DATES_MAX: i64 = 1_000;

/// A date of a concert.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConcertDate {
    /// Which date.
    pub id: DateId,
    /// Of which concert.
    pub concert: ConcertId,
    /// The concert's title.
    pub title: String,
    /// What its place is called, if anybody has said it.
    pub venue: Option<String>,
    /// By which clocks its times are told.
    pub zone: Zone,
    /// When it begins.
    pub starts_at: Timestamp,
    /// Whether it has begun.
    pub has_begun: bool,
    /// How many seats can be reserved now.
    pub seats_left: i64,
    /// How many seats are held now, and may be free again.
    pub seats_held: i64,
    /// What the cheapest seat costs that can be reserved now.
    pub price_from: Option<Points>,
}

/// A seat on a date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seat {
    /// Which seat.
    pub id: SeatId,
    /// The number on it.
    pub number: i64,
    /// What it costs.
    pub price: Points,
    /// Whether it can be reserved now.
    pub state: SeatState,
}

/// Whether a seat can be reserved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SeatState {
    /// By anyone.
    Free,
    /// Somebody holds it.
    Held,
    /// Somebody has bought it.
    Sold,
}

impl BoxOffice {
    /// All dates, the earliest first.
    pub async fn dates(&self, now: Timestamp) -> Result<Vec<ConcertDate>, Error> {
        let time = self.database.now(now);
        let now = time.sql("$1");
        let sql = format!(
            "SELECT d.id, d.concert_id, c.title, c.venue, c.time_zone, d.starts_at, {now}, \
             COUNT(CASE WHEN r.id IS NULL THEN s.id END), \
             COUNT(CASE WHEN r.state = 'HELD' THEN 1 END), \
             MIN(CASE WHEN r.id IS NULL THEN s.price END) \
             FROM concert_dates d JOIN concerts c ON c.id = d.concert_id \
             LEFT JOIN seats s ON s.date_id = d.id \
             LEFT JOIN reservations r ON r.seat_id = s.id AND \
               (r.state = 'PAID' OR r.state = 'HELD' AND r.hold_until > {now}) \
             GROUP BY d.id, d.concert_id, c.title, c.venue, c.time_zone, d.starts_at \
             ORDER BY d.starts_at, d.id LIMIT $2",
        );
        let rows: Vec<DateRow> = query_as(&sql)
            .bind(time.bound())
            .bind(DATES_MAX)
            .fetch_all(self.database.reader())
            .await?;
        Ok(rows.into_iter().map(concert_date).collect())
    }

    /// All seats of a date, by number.
    pub async fn seats(&self, date: DateId, now: Timestamp) -> Result<Vec<Seat>, Error> {
        let time = self.database.now(now);
        let sql = format!(
            "SELECT s.id, s.number, s.price, COALESCE(r.state, 'FREE') FROM seats s \
             LEFT JOIN reservations r ON r.seat_id = s.id AND \
               (r.state = 'PAID' OR r.state = 'HELD' AND r.hold_until > {}) \
             WHERE s.date_id = $1 ORDER BY s.number",
            time.sql("$2")
        );
        let rows: Vec<(i64, i64, i64, String)> = query_as(&sql)
            .bind(date.0)
            .bind(time.bound())
            .fetch_all(self.database.reader())
            .await?;
        if rows.is_empty() {
            self.find_date(date).await?;
        }
        Ok(rows.into_iter().map(seat).collect())
    }

    /// How many seats of dates still to come are not paid for; none if no date is to come.
    pub async fn stock(&self, now: Timestamp) -> Result<Option<u64>, Error> {
        let time = self.database.now(now);
        let now = time.sql("$1");
        let sql = format!(
            "SELECT \
             (SELECT COUNT(*) FROM concert_dates d JOIN seats s ON s.date_id = d.id \
               WHERE d.starts_at > {now}), \
             (SELECT COUNT(*) FROM reservations r JOIN seats s ON s.id = r.seat_id \
               JOIN concert_dates d ON d.id = s.date_id \
               WHERE r.state = 'PAID' AND d.starts_at > {now})",
        );
        let (seats, paid): (i64, i64) = query_as(&sql)
            .bind(time.bound())
            .fetch_one(self.database.reader())
            .await?;
        Ok((seats > 0).then(|| u64::try_from(seats - paid).unwrap_or_default()))
    }

    async fn find_date(&self, date: DateId) -> Result<(), Error> {
        let found: Option<i64> = query_scalar("SELECT id FROM concert_dates WHERE id = $1")
            .bind(date.0)
            .fetch_optional(self.database.reader())
            .await?;
        found.map(drop).ok_or(Refusal::DateNotFound.into())
    }
}

/// Date, concert, title, venue, zone, beginning, current time, seats left, seats held, lowest price.
type DateRow = (
    i64,
    i64,
    String,
    Option<String>,
    String,
    i64,
    i64,
    i64,
    i64,
    Option<i64>,
);

fn concert_date(row: DateRow) -> ConcertDate {
    let (id, concert, title, venue, zone, starts_at, now, seats_left, seats_held, price_from) = row;
    ConcertDate {
        id: DateId(id),
        concert: ConcertId(concert),
        title,
        venue,
        zone: Zone::stored(&zone),
        starts_at: moment(starts_at),
        has_begun: starts_at <= now,
        seats_left,
        seats_held,
        price_from: price_from.map(Points::stored),
    }
}

fn seat((id, number, price, state): (i64, i64, i64, String)) -> Seat {
    Seat {
        id: SeatId(id),
        number,
        price: Points::stored(price),
        state: match &*state {
            "PAID" => SeatState::Sold,
            "HELD" => SeatState::Held,
            _ => SeatState::Free,
        },
    }
}
