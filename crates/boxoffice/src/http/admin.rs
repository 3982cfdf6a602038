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
use crate::{ConcertDraft, ConcertId, Refusal, SeatDraft, concerts::SEATS_MAX};

/// A concert to be put up for sale.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewConcert {
    /// 1 to 200 characters.
    title: String,
}

/// A concert that was put up for sale.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ConcertView {
    concert_id: i64,
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
    Json(NewConcert { title }): Json<NewConcert>,
) -> Result<(StatusCode, Json<ConcertView>), ApiError> {
    let draft = ConcertDraft::titled(&title).map_err(|_| ApiError::Field {
        name: "title",
        message: "1 to 200 characters",
    })?;
    let ConcertId(concert_id) = service.office.create_concert(&draft, service.now()).await?;
    Ok((StatusCode::CREATED, Json(ConcertView { concert_id })))
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
