//! Paying.

use axum::extract::State;
use ropeline_web::{IdempotencyKey, Json, Moment, Path};
use serde::Serialize;
use utoipa::ToSchema;

use super::{Service, error::ApiError, guard::Owner, reservations::ReservationPath};
use crate::Payment;

/// A payment, the same however often it is asked for.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PaymentView {
    payment_id: i64,
    reservation_id: i64,
    amount: i64,
    /// What the user had left right after it.
    balance: i64,
    #[schema(inline)]
    paid_at: Moment,
}

/// Pays for a seat. It is judged by the login and the hold: the pass may be over.
pub(crate) async fn pay(
    State(service): State<Service>,
    Owner(user): Owner,
    Path(ReservationPath { reservation_id }): Path<ReservationPath>,
    key: Option<IdempotencyKey>,
) -> Result<Json<PaymentView>, ApiError> {
    let payment = service.pay(user, reservation_id, key.as_ref()).await?;
    Ok(Json(payment.into()))
}

impl From<Payment> for PaymentView {
    fn from(payment: Payment) -> Self {
        Self {
            payment_id: payment.id.0,
            reservation_id: payment.reservation.0,
            amount: payment.amount.get(),
            balance: payment.balance.get(),
            paid_at: Moment(payment.paid_at),
        }
    }
}
