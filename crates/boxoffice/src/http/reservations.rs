//! Holds and bookings.

use axum::extract::State;
use http::StatusCode;
use ropeline_web::{Json, Moment, Path};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{
    Service,
    error::ApiError,
    guard::{Buyer, Login, Owner},
};
use crate::{Held, Reservation, ReservationId, SeatId};

/// A hold or a booking.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ReservationView {
    reservation_id: i64,
    seat_id: i64,
    concert_date_id: i64,
    number: i64,
    price: i64,
    /// `HELD`, `PAID`, `EXPIRED` or `CANCELLED`.
    #[schema(example = "HELD")]
    state: &'static str,
    /// When the hold ends or ended, unless paid by then. It is never extended.
    #[schema(value_type = String, format = DateTime)]
    hold_until: Moment,
    /// How long the seat is held yet, in milliseconds; 0 once it is paid, given up or no longer held.
    remaining_ms: u64,
}

/// A user's reservations, the newest first.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ReservationList {
    reservations: Vec<ReservationView>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SeatPath {
    seat_id: SeatId,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ReservationPath {
    pub(super) reservation_id: ReservationId,
}

/// Holds a seat for whoever is inside, and keeps their pass for as long.
pub(crate) async fn reserve(
    State(service): State<Service>,
    Buyer { user, pass }: Buyer,
    Path(SeatPath { seat_id }): Path<SeatPath>,
) -> Result<(StatusCode, Json<ReservationView>), ApiError> {
    let office = &service.office;
    let held = office.hold(user, seat_id, Some(&pass), service.now());
    let held = service.then_keep(user, held, |held| held.business.as_ref());
    let Held { reservation, .. } = held.await?;
    Ok((StatusCode::CREATED, Json(reservation.into())))
}

pub(crate) async fn list(
    State(service): State<Service>,
    Owner(user): Owner,
) -> Result<Json<ReservationList>, ApiError> {
    let reservations = service.office.reservations(user, service.now()).await?;
    let reservations = reservations.into_iter().map(Into::into).collect();
    Ok(Json(ReservationList { reservations }))
}

/// Ends a hold. It is judged by the login alone: the pass may be over.
pub(crate) async fn give_up(
    State(service): State<Service>,
    Login(user): Login,
    Path(ReservationPath { reservation_id }): Path<ReservationPath>,
) -> Result<StatusCode, ApiError> {
    let given_up = service.office.give_up(user, reservation_id, service.now());
    service.then_keep(user, given_up, |()| None).await?;
    Ok(StatusCode::NO_CONTENT)
}

impl From<Reservation> for ReservationView {
    fn from(reservation: Reservation) -> Self {
        Self {
            reservation_id: reservation.id.0,
            seat_id: reservation.seat.0,
            concert_date_id: reservation.date.0,
            number: reservation.number,
            price: reservation.price.get(),
            state: reservation.state.as_str(),
            hold_until: Moment(reservation.hold_until),
            remaining_ms: u64::try_from(reservation.hold_left.as_millis()).unwrap_or(u64::MAX),
        }
    }
}
