//! The concert that a new box office has to show.

use std::{sync::Arc, time::Duration};

use ropeline_core::Timestamp;
use sqlx::query;

use super::create::{ConcertDraft, CreateConcert, CreateDate, Name, SeatDraft};
use crate::{
    BoxOffice, Error, Points, Zone,
    database::{Session, Work},
    time::millis,
};

/// How many seats each date of the demo concert has, numbered from 1.
pub const DEMO_SEATS: u32 = 50;

const TITLE: &str = "Ropeline Live";
const ZONE: &str = "Asia/Seoul";
const VENUE: &str = "Ropeline Hall, Seoul";
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const DATES: u32 = 3;
/// The first date is so far ahead that the sale is on for a while.
const DAYS_AHEAD: u32 = 30;
/// Seven in the evening in Seoul, in hours of UTC.
const EVENING: Duration = Duration::from_secs(10 * 60 * 60);
/// The price of each tenth of the numbers, from the stage to the back.
const PRICES: [i64; 5] = [150_000, 125_000, 100_000, 75_000, 50_000];

impl BoxOffice {
    /// Puts up the demo concert, once in the life of a database, whoever starts first. An operator
    /// who took it down does not find it again.
    pub async fn put_up_demo(&self, now: Timestamp) -> Result<(), Error> {
        self.database.write(PutUpDemo, now).await
    }
}

struct PutUpDemo;

impl Work for PutUpDemo {
    type Done = ();

    async fn carry_out(&self, session: &mut Session<'_>) -> Result<(), Error> {
        let now = session.now().await?;
        if !is_first(session, now).await? {
            return Ok(());
        }
        let concert = CreateConcert(demo()?).carry_out(session).await?;
        let seats: Arc<[SeatDraft]> = (1..=DEMO_SEATS).map(demo_seat).collect();
        for day in 0..DATES {
            let date = CreateDate {
                concert,
                starts_at: evening(now, DAYS_AHEAD + day),
                seats: Arc::clone(&seats),
            };
            date.carry_out(session).await?;
        }
        Ok(())
    }
}

fn demo() -> Result<ConcertDraft, Error> {
    let concert = ConcertDraft::titled(Name::parse(TITLE)?);
    let concert = concert.in_zone(Zone::named(ZONE)?);
    Ok(concert.at_venue(Some(Name::parse(VENUE)?)))
}

/// Of several that start at once, the others wait here for the first.
async fn is_first(session: &mut Session<'_>, now: Timestamp) -> Result<bool, Error> {
    let sql = "INSERT INTO milestones (name, reached_at) VALUES ('demo', $1) \
               ON CONFLICT DO NOTHING";
    let inserted = query(sql)
        .bind(millis(now))
        .execute(session.connection())
        .await?;
    Ok(inserted.rows_affected() == 1)
}

fn demo_seat(number: u32) -> SeatDraft {
    let row = (number - 1) as usize * PRICES.len() / DEMO_SEATS as usize;
    SeatDraft {
        number,
        price: Points::stored(PRICES[row]),
    }
}

fn evening(now: Timestamp, days_ahead: u32) -> Timestamp {
    let into_the_day = u64::try_from(DAY.as_millis()).map_or(0, |day| now.0 % day);
    Timestamp(now.0 - into_the_day) + DAY * days_ahead + EVENING
}
