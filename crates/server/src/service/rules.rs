//! The six things that a service asks of a room, whichever way it asks.

use std::time::Duration;

use ropeline_core::{Holder, Ordinal, RoomId, UserId};
use ropeline_store::{Health, StoreError};

use crate::{
    app::App,
    error::ApiError,
    queue::{Asking, Entry, Holding, hold_for, judge},
};

/// Longer than any business inside; beyond it a mistake in units would give passes that never end.
pub(super) const BUSINESS_MAX: Duration = Duration::from_secs(24 * 3_600);

/// A store keeps how a place ended as a bit, and has no more bits than this. Tokens are signed, but what a service says
/// may be anything.
const ORDINAL_MAX: Ordinal = Ordinal(u32::MAX as u64);

/// The largest number that every reader of JSON takes for what it is.
const STOCK_MAX: u64 = (1 << 53) - 1;

/// Judges a token at the gate of a room, and renews the pass of one who is inside. A room that is not there is said
/// to be so before the token is looked at: the service has its name from a setting.
pub(super) async fn verify(
    app: &App,
    room: &RoomId,
    token: Option<&str>,
) -> Result<Entry, ApiError> {
    app.seen(room)?;
    judge(app, &Asking::in_room(app, room.clone(), token)).await
}

/// A place for a user for whom the service vouches, or for somebody without a name.
pub(super) async fn join(
    app: &App,
    room: &RoomId,
    user: Option<UserId>,
) -> Result<Holding, ApiError> {
    hold_for(app, room.clone(), user).await
}

/// Keeps a pass for business that lasts so long from now.
pub(super) async fn keep(
    app: &App,
    room: &RoomId,
    holder: Holder,
    business: Duration,
) -> Result<(), ApiError> {
    check(&holder)?;
    if business > BUSINESS_MAX {
        return Err(ApiError::Field {
            field: "milliseconds",
            message: format!("must be at most {}", BUSINESS_MAX.as_millis()),
        });
    }
    app.store.keep(room, holder, business).await?;
    Ok(())
}

/// Ends a pass whose holder is done; of one that has ended there is nothing to do.
pub(super) async fn finish(app: &App, room: &RoomId, holder: Holder) -> Result<(), ApiError> {
    check(&holder)?;
    app.store.finish(room, holder).await?;
    Ok(())
}

/// Whether joins are taken in a room now. The store says how it is without being asked, so this waits for nothing.
pub(super) fn ready(app: &App, room: &RoomId) -> Result<(), ApiError> {
    app.seen(room)?;
    match app.store.health_of(room) {
        Health::Up => Ok(()),
        Health::Down(reason) => Err(StoreError::Unavailable(reason).into()),
    }
}

/// Tells those who wait how much is left to sell; nothing else follows from it.
pub(super) async fn stock(app: &App, room: &RoomId, left: Option<u64>) -> Result<(), ApiError> {
    if left.is_some_and(|left| left > STOCK_MAX) {
        return Err(ApiError::Field {
            field: "left",
            message: format!("must be at most {STOCK_MAX}"),
        });
    }
    app.store.stock(room, left).await?;
    Ok(())
}

fn check(holder: &Holder) -> Result<(), ApiError> {
    if (Ordinal(1)..=ORDINAL_MAX).contains(&holder.ordinal) {
        return Ok(());
    }
    Err(ApiError::Field {
        field: "ordinal",
        message: format!("must be 1 to {ORDINAL_MAX}"),
    })
}
