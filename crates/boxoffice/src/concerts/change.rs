//! Correcting what is said of a concert.

use ropeline_core::Timestamp;
use sqlx::query_as;

use super::create::Name;
use crate::{
    BoxOffice, ConcertId, Error, Refusal, Zone,
    database::{Session, Work},
};

/// A concert as it is put up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Concert {
    /// Which concert.
    pub id: ConcertId,
    /// Its title.
    pub title: String,
    /// By which clocks its times are told.
    pub zone: Zone,
    /// What its place is called, if anybody has said it.
    pub venue: Option<String>,
}

/// What is to be said of a concert from now on. What is `None` stays as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConcertChange {
    /// Another title.
    pub title: Option<Name>,
    /// Another zone. When the dates begin does not change, only by which clocks they are told.
    pub zone: Option<Zone>,
    /// What becomes of the venue.
    pub venue: VenueChange,
}

/// What becomes of what the place is called.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum VenueChange {
    /// It stays.
    #[default]
    Stays,
    /// It is called this.
    Becomes(Name),
    /// It is no longer said.
    Goes,
}

impl BoxOffice {
    /// Changes what is said of a concert; gives it as it is then.
    pub async fn change_concert(
        &self,
        concert: ConcertId,
        change: ConcertChange,
        now: Timestamp,
    ) -> Result<Concert, Error> {
        self.database
            .write(ChangeConcert { concert, change }, now)
            .await
    }
}

struct ChangeConcert {
    concert: ConcertId,
    change: ConcertChange,
}

impl Work for ChangeConcert {
    type Done = Concert;

    async fn carry_out(&self, session: &mut Session<'_>) -> Result<Concert, Error> {
        let ConcertChange { title, zone, venue } = &self.change;
        let (stays, venue) = match venue {
            VenueChange::Stays => (1_i64, None),
            VenueChange::Becomes(name) => (0, Some(name.as_str())),
            VenueChange::Goes => (0, None),
        };
        let changed: Option<(String, String, Option<String>)> = query_as(
            "UPDATE concerts SET title = COALESCE($2, title), time_zone = COALESCE($3, time_zone), \
             venue = CASE WHEN $4 = 1 THEN venue ELSE $5 END \
             WHERE id = $1 RETURNING title, time_zone, venue",
        )
        .bind(self.concert.0)
        .bind(title.as_ref().map(Name::as_str))
        .bind(zone.as_ref().map(Zone::name))
        .bind(stays)
        .bind(venue)
        .fetch_optional(session.connection())
        .await?;
        let (title, zone, venue) = changed.ok_or(Refusal::ConcertNotFound)?;
        Ok(Concert {
            id: self.concert,
            title,
            zone: Zone::stored(&zone),
            venue,
        })
    }
}
