//! How many seats of a date are left, for the waiting page.

use axum::{Json, extract::State};
use ropeline_web::Path;
use serde::Serialize;

use super::{Pages, tickets::DatePath};
use crate::{DateId, Refusal, http::ApiError};

/// What everybody may know of a date. It is at most a second old, whatever the size of the crowd that asks.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Left {
    concert_date_id: DateId,
    /// Not paid for: a seat that is held may be free again.
    seats_left: i64,
}

pub(super) async fn left(
    State(pages): State<Pages>,
    Path(DatePath { concert_date_id }): Path<DatePath>,
) -> Result<Json<Left>, ApiError> {
    let dates = pages.board.dates(&pages.service).await?;
    let date = dates.iter().find(|date| date.id == concert_date_id);
    let date = date.ok_or(Refusal::DateNotFound)?;
    Ok(Json(Left {
        concert_date_id,
        seats_left: date.seats_left + date.seats_held,
    }))
}
