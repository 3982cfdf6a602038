//! For operators: what is put up for sale.

use axum::extract::State;
use http::StatusCode;
use ropeline_web::{Json, Moment, Path, object};
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;

use super::{
    Service,
    amount::Amount,
    concerts::{SeatList, seat_list},
    error::ApiError,
    guard::Operator,
};
use crate::{
    Concert, ConcertChange, ConcertDraft, ConcertId, Name, Refusal, SeatDraft, VenueChange, Zone,
    concerts::SEATS_MAX,
};

/// A concert to be put up for sale.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct NewConcert {
    /// 1 to 200 characters.
    title: String,
    /// The zone of the venue, by its IANA name; `UTC` if left out.
    #[schema(example = "Asia/Seoul")]
    time_zone: Option<String>,
    /// What the place is called: 1 to 200 characters.
    venue: Option<String>,
}

/// What is to be said of a concert from now on. What is left out stays as it is.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct ChangedConcert {
    /// 1 to 200 characters.
    title: Option<String>,
    /// Another zone. The dates begin when they did, told by other clocks.
    #[schema(example = "Asia/Seoul")]
    time_zone: Option<String>,
    /// 1 to 200 characters; null takes it away.
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    venue: NewVenue,
}

/// A field that may be left out, which is not the same as null.
#[derive(Debug, Default)]
enum NewVenue {
    #[default]
    LeftOut,
    Given(Option<String>),
}

/// A concert that is up for sale.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ConcertView {
    concert_id: i64,
    title: String,
    /// By its IANA name.
    time_zone: String,
    venue: Option<String>,
}

/// A date to be put up for sale, with all its seats.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct NewDate {
    #[schema(inline)]
    starts_at: Moment,
    seats: Vec<NewSeat>,
}

/// A seat to be put up for sale, or all seats from one number to another at the same price.
#[derive(Debug, ToSchema)]
pub(crate) struct NewSeat {
    /// From 1, once for each date.
    number: u32,
    /// The last number of a range; the seat alone if left out.
    to: Option<u32>,
    #[schema(inline)]
    price: Amount,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ConcertPath {
    concert_id: ConcertId,
}

pub(crate) async fn create_concert(
    _: Operator,
    State(service): State<Service>,
    Json(new): Json<NewConcert>,
) -> Result<(StatusCode, Json<ConcertView>), ApiError> {
    let zone = new
        .time_zone
        .as_deref()
        .map_or(Ok(Zone::UTC), Zone::named)?;
    let venue = new.venue.map(|venue| name("venue", &venue)).transpose()?;
    let draft = ConcertDraft::titled(name("title", &new.title)?);
    let draft = draft.in_zone(zone).at_venue(venue);
    let concert = service.office.create_concert(&draft, service.now()).await?;
    Ok((StatusCode::CREATED, Json(concert.into())))
}

pub(crate) async fn change_concert(
    _: Operator,
    State(service): State<Service>,
    Path(ConcertPath { concert_id }): Path<ConcertPath>,
    Json(new): Json<ChangedConcert>,
) -> Result<Json<ConcertView>, ApiError> {
    let change = ConcertChange {
        title: new.title.map(|title| name("title", &title)).transpose()?,
        zone: new.time_zone.as_deref().map(Zone::named).transpose()?,
        venue: match new.venue {
            NewVenue::LeftOut => VenueChange::Stays,
            NewVenue::Given(None) => VenueChange::Goes,
            NewVenue::Given(Some(venue)) => VenueChange::Becomes(name("venue", &venue)?),
        },
    };
    let office = &service.office;
    let concert = office.change_concert(concert_id, change, service.now());
    Ok(Json(concert.await?.into()))
}

fn name(field: &'static str, text: &str) -> Result<Name, ApiError> {
    Name::parse(text).map_err(|_| ApiError::Field {
        name: field,
        message: "1 to 200 characters",
    })
}

pub(crate) async fn create_date(
    _: Operator,
    State(service): State<Service>,
    Path(ConcertPath { concert_id }): Path<ConcertPath>,
    Json(NewDate { starts_at, seats }): Json<NewDate>,
) -> Result<(StatusCode, Json<SeatList>), ApiError> {
    let seats = layout(&seats)?;
    let date = service
        .office
        .create_date(concert_id, starts_at.0, &seats, service.now())
        .await?;
    let list = seat_list(&service, date).await?;
    Ok((StatusCode::CREATED, Json(list)))
}

impl<'de> Deserialize<'de> for NewVenue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Option::deserialize(deserializer).map(Self::Given)
    }
}

impl From<Concert> for ConcertView {
    fn from(concert: Concert) -> Self {
        Self {
            concert_id: concert.id.0,
            title: concert.title,
            time_zone: concert.zone.name().to_owned(),
            venue: concert.venue,
        }
    }
}

/// Every seat of every range. A range that is longer than any layout is not written out.
fn layout(ranges: &[NewSeat]) -> Result<Vec<SeatDraft>, Refusal> {
    let mut seats = Vec::new();
    for range in ranges {
        let price = range.price.points()?;
        let numbers = range.number..=range.to.unwrap_or(range.number);
        let backwards = numbers.is_empty();
        seats.extend(
            numbers
                .take(SEATS_MAX + 1)
                .map(|number| SeatDraft { number, price }),
        );
        if backwards || seats.len() > SEATS_MAX {
            return Err(Refusal::InvalidSeats);
        }
    }
    Ok(seats)
}

/// Written as an object, and never as an array of its fields.
impl<'de> Deserialize<'de> for NewSeat {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Seat {
            number: u32,
            to: Option<u32>,
            price: Amount,
        }
        let Seat { number, to, price } = object(deserializer)?;
        Ok(Self { number, to, price })
    }
}
