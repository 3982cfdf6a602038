//! Points.

use axum::extract::State;
use ropeline_web::{IdempotencyKey, Json};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Service, amount::Amount, error::ApiError, guard::Owner};

/// What a user has.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PointsView {
    user_id: i64,
    /// In whole points.
    balance: i64,
}

/// Points to add.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Charge {
    #[schema(inline)]
    amount: Amount,
}

/// What a user has after a charge.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ChargedView {
    user_id: i64,
    balance: i64,
    /// How many were added.
    charged: i64,
}

pub(crate) async fn balance(
    State(service): State<Service>,
    Owner(user): Owner,
) -> Result<Json<PointsView>, ApiError> {
    let balance = service.office.balance(user).await?;
    Ok(Json(PointsView {
        user_id: user.0,
        balance: balance.get(),
    }))
}

pub(crate) async fn charge(
    State(service): State<Service>,
    Owner(user): Owner,
    key: Option<IdempotencyKey>,
    Json(Charge { amount }): Json<Charge>,
) -> Result<Json<ChargedView>, ApiError> {
    let amount = amount.points()?;
    let charged = service
        .office
        .charge(user, amount, key.as_ref(), service.now())
        .await?;
    Ok(Json(ChargedView {
        user_id: user.0,
        balance: charged.balance.get(),
        charged: charged.charged.get(),
    }))
}
