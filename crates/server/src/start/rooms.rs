//! The rooms at the start: those of the settings, and what is to be said of them.

use std::sync::Arc;

use ropeline_core::{Identity, RoomId};
use ropeline_store::{Operation, Store, StoreError};

use super::started::{RoomNote, StartedRoom};
use crate::{
    app::App,
    config::{RoomSettings, Settings, difference},
};

/// Makes a room, or applies its section if the text is another one than last time; otherwise live changes
/// stay, so that a restart never resets a cap in mid-sale.
pub(super) async fn apply_section(
    store: &dyn Store,
    room: &RoomId,
    section: &RoomSettings,
) -> Result<StartedRoom, StoreError> {
    let RoomSettings { policy, digest } = section;
    let created = store
        .create(room, Arc::clone(policy), Some(digest.clone()))
        .await?;
    let view = || {
        store
            .view(room)
            .ok_or_else(|| StoreError::NoSuchRoom(room.clone()))
    };
    let header = &view()?.view.header;
    let note = if created {
        RoomNote::Created
    } else if header.digest.as_ref() == Some(digest) {
        RoomNote::Kept
    } else {
        let changes = difference(&header.policy, policy);
        let digest = Some(digest.clone());
        let operation = Operation::SetPolicy {
            policy: Arc::clone(policy),
            digest,
        };
        store.operate(room, operation).await?;
        RoomNote::Changed(changes)
    };
    Ok(StartedRoom {
        room: room.clone(),
        note,
        view: view()?.view,
    })
}

/// Clears how much is left to sell in rooms for which nothing sells any more. The room itself remembers it for good, and
/// visitors would be shown it for good.
pub(super) async fn clear_old_stock(store: &dyn Store, settings: &Settings) {
    // A service elsewhere may sell.
    if settings.service_key.is_some() {
        return;
    }
    let boxoffice = &settings.boxoffice;
    let box_office_serves = boxoffice.serves_with(&settings.store, settings.database.as_ref());
    for room in store.rooms() {
        let has_stock = store
            .view(&room)
            .is_some_and(|seen| seen.view.header.stock.is_some());
        if !has_stock || (box_office_serves && room == boxoffice.room) {
            continue;
        }
        match store.stock(&room, None).await {
            Ok(()) => {
                tracing::info!(room.id = %room, "nothing sells for this room any more: the seats left are no longer shown");
            }
            // A room that is frozen, for instance. The next start tries again.
            Err(error) => {
                tracing::warn!(room.id = %room, %error, "the seats left are still shown, though nothing sells for this room");
            }
        }
    }
}

/// The rooms that take user ids as stated.
pub(super) fn open_rooms(app: &App) -> Vec<RoomId> {
    let mut rooms = app.store.rooms();
    rooms.retain(|room| {
        let seen = app.store.view(room);
        seen.is_some_and(|seen| seen.view.header.policy.identity == Identity::Open)
    });
    rooms
}

/// Rooms that were made while running may need logins that the settings no longer have.
pub(super) fn warn_of_missing_logins(app: &App) {
    for room in app.store.rooms() {
        let Some(seen) = app.store.view(&room) else {
            continue;
        };
        if let Err(error) = app.check_identity(&seen.view.header.policy) {
            tracing::error!(room.id = %room, %error, "nobody can join this room");
        }
    }
}

/// Rooms that a move has frozen here, worded for the operator.
pub(super) async fn frozen_rooms(store: &dyn Store) -> Vec<String> {
    let mut words = Vec::new();
    for room in store.rooms() {
        // A store that does not answer says so itself.
        if let Ok(Some(why)) = store.frozen(&room).await {
            words.push(format!(
                "the room {room} {why}: here it takes no joins and lets nobody in"
            ));
        }
    }
    words
}
