//! Putting concerts, dates and seats up for sale.

use std::{collections::HashSet, sync::Arc};

use ropeline_core::Timestamp;
use sqlx::{query, query_scalar};

use crate::{
    BoxOffice, Concert, ConcertId, DateId, Error, Points, Refusal, Zone,
    database::{Session, Work},
    time::millis,
};

/// As the database has it, for titles and venues.
const NAME_CHARS_MAX: usize = 200;
/// More than the largest stadium has.
pub(crate) const SEATS_MAX: usize = 200_000;

/// A concert to be put up for sale.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConcertDraft {
    pub(super) title: Name,
    pub(super) zone: Zone,
    pub(super) venue: Option<Name>,
}

impl ConcertDraft {
    /// A concert by its title. Its times are told in UTC until [`ConcertDraft::in_zone`] says otherwise.
    pub fn titled(title: Name) -> Self {
        Self {
            title,
            zone: Zone::UTC,
            venue: None,
        }
    }

    /// The concert, with its times told by the clocks of this zone.
    #[must_use]
    pub fn in_zone(self, zone: Zone) -> Self {
        Self { zone, ..self }
    }

    /// The concert, with what its place is called.
    #[must_use]
    pub fn at_venue(self, venue: Option<Name>) -> Self {
        Self { venue, ..self }
    }
}

/// What a concert or a venue is called: 1 to 200 characters, without white space around them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name(Box<str>);

impl Name {
    /// A name of a text.
    pub fn parse(text: &str) -> Result<Self, Refusal> {
        let name = text.trim();
        if name.is_empty() || name.contains('\0') || name.chars().count() > NAME_CHARS_MAX {
            return Err(Refusal::InvalidName);
        }
        Ok(Self(name.into()))
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<Name> for String {
    fn from(Name(text): Name) -> Self {
        text.into()
    }
}

/// A seat to be put up for sale.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SeatDraft {
    /// The number on the seat, from 1 and once for each date.
    pub number: u32,
    /// What it costs.
    pub price: Points,
}

impl BoxOffice {
    /// Puts up a concert without dates.
    pub async fn create_concert(
        &self,
        concert: &ConcertDraft,
        now: Timestamp,
    ) -> Result<Concert, Error> {
        let work = CreateConcert(concert.clone());
        let id = self.database.write(work, now).await?;
        let ConcertDraft { title, zone, venue } = concert.clone();
        Ok(Concert {
            id,
            title: title.into(),
            zone,
            venue: venue.map(Into::into),
        })
    }

    /// Puts up a date with all its seats. A date that the concert has already is answered as it is.
    pub async fn create_date(
        &self,
        concert: ConcertId,
        starts_at: Timestamp,
        seats: &[SeatDraft],
        now: Timestamp,
    ) -> Result<DateId, Error> {
        check_layout(seats)?;
        let date = CreateDate {
            concert,
            starts_at,
            seats: seats.into(),
        };
        self.database.write(date, now).await
    }
}

fn check_layout(seats: &[SeatDraft]) -> Result<(), Refusal> {
    let numbers: HashSet<u32> = seats.iter().map(|seat| seat.number).collect();
    let good = (1..=SEATS_MAX).contains(&seats.len())
        && numbers.len() == seats.len()
        && !numbers.contains(&0);
    if good {
        Ok(())
    } else {
        Err(Refusal::InvalidSeats)
    }
}

pub(super) struct CreateConcert(pub(super) ConcertDraft);

impl Work for CreateConcert {
    type Done = ConcertId;

    async fn carry_out(&self, session: &mut Session<'_>) -> Result<ConcertId, Error> {
        let Self(concert) = self;
        let now = session.now().await?;
        let sql = "INSERT INTO concerts (title, time_zone, venue, created_at) \
                   VALUES ($1, $2, $3, $4) RETURNING id";
        let id = query_scalar(sql)
            .bind(concert.title.as_str())
            .bind(concert.zone.name())
            .bind(concert.venue.as_ref().map(Name::as_str))
            .bind(millis(now))
            .fetch_one(session.connection())
            .await?;
        Ok(ConcertId(id))
    }
}

pub(super) struct CreateDate {
    pub(super) concert: ConcertId,
    pub(super) starts_at: Timestamp,
    pub(super) seats: Arc<[SeatDraft]>,
}

impl Work for CreateDate {
    type Done = DateId;

    async fn carry_out(&self, session: &mut Session<'_>) -> Result<DateId, Error> {
        self.find_concert(session).await?;
        let Some(date) = self.insert_date(session).await? else {
            return self.find_date(session).await;
        };
        for seat in &*self.seats {
            query("INSERT INTO seats (date_id, number, price) VALUES ($1, $2, $3)")
                .bind(date.0)
                .bind(i64::from(seat.number))
                .bind(seat.price.get())
                .execute(session.connection())
                .await?;
        }
        Ok(date)
    }
}

impl CreateDate {
    async fn find_concert(&self, session: &mut Session<'_>) -> Result<(), Error> {
        let found: Option<i64> = query_scalar("SELECT id FROM concerts WHERE id = $1")
            .bind(self.concert.0)
            .fetch_optional(session.connection())
            .await?;
        found.map(drop).ok_or(Refusal::ConcertNotFound.into())
    }

    /// Nothing if the concert has the date already.
    async fn insert_date(&self, session: &mut Session<'_>) -> Result<Option<DateId>, Error> {
        let id = query_scalar(
            "INSERT INTO concert_dates (concert_id, starts_at) VALUES ($1, $2) \
             ON CONFLICT DO NOTHING RETURNING id",
        )
        .bind(self.concert.0)
        .bind(millis(self.starts_at))
        .fetch_optional(session.connection())
        .await?;
        Ok(id.map(DateId))
    }

    async fn find_date(&self, session: &mut Session<'_>) -> Result<DateId, Error> {
        let sql = "SELECT id FROM concert_dates WHERE concert_id = $1 AND starts_at = $2";
        let id = query_scalar(sql)
            .bind(self.concert.0)
            .bind(millis(self.starts_at))
            .fetch_one(session.connection())
            .await?;
        Ok(DateId(id))
    }
}
