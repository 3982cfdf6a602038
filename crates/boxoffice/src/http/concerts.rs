//! What is for sale.

use axum::extract::State;
use ropeline_web::{Json, Moment, Path};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Service, error::ApiError};
use crate::{ConcertDate, DateId, Seat, SeatState};

/// All dates, the earliest first.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct DateList {
    dates: Vec<DateView>,
}

/// A date of a concert.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DateView {
    concert_date_id: i64,
    concert_id: i64,
    title: String,
    /// What the place is called, or null.
    venue: Option<String>,
    /// The zone of the venue, by its IANA name.
    #[schema(example = "Asia/Seoul")]
    time_zone: String,
    #[schema(inline)]
    starts_at: Moment,
    /// The same moment by the clocks of the venue.
    #[schema(format = DateTime, example = "2026-12-18T19:00:00+09:00")]
    starts_at_local: String,
    /// How many seats can be reserved now.
    seats_left: i64,
}

/// All seats of a date, by number.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SeatList {
    pub(super) concert_date_id: i64,
    pub(super) seats: Vec<SeatView>,
}

/// A seat on a date.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SeatView {
    seat_id: i64,
    number: i64,
    price: i64,
    /// `FREE`, `HELD` or `SOLD`.
    #[schema(example = "FREE")]
    state: &'static str,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DatePath {
    concert_date_id: DateId,
}

pub(crate) async fn dates(State(service): State<Service>) -> Result<Json<DateList>, ApiError> {
    let dates = service.office.dates(service.now()).await?;
    let dates = dates.into_iter().map(DateView::from).collect();
    Ok(Json(DateList { dates }))
}

pub(crate) async fn seats(
    State(service): State<Service>,
    Path(DatePath { concert_date_id }): Path<DatePath>,
) -> Result<Json<SeatList>, ApiError> {
    seat_list(&service, concert_date_id).await.map(Json)
}

pub(super) async fn seat_list(service: &Service, date: DateId) -> Result<SeatList, ApiError> {
    let seats = service.office.seats(date, service.now()).await?;
    Ok(SeatList {
        concert_date_id: date.0,
        seats: seats.into_iter().map(SeatView::from).collect(),
    })
}

impl From<ConcertDate> for DateView {
    fn from(date: ConcertDate) -> Self {
        Self {
            concert_date_id: date.id.0,
            concert_id: date.concert.0,
            title: date.title,
            venue: date.venue,
            time_zone: date.zone.name().to_owned(),
            starts_at_local: date.zone.rfc_3339(date.starts_at),
            starts_at: Moment(date.starts_at),
            seats_left: date.seats_left,
        }
    }
}

impl From<Seat> for SeatView {
    fn from(seat: Seat) -> Self {
        Self {
            seat_id: seat.id.0,
            number: seat.number,
            price: seat.price.get(),
            state: match seat.state {
                SeatState::Free => "FREE",
                SeatState::Held => "HELD",
                SeatState::Sold => "SOLD",
            },
        }
    }
}
