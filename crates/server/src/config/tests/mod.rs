//! What the settings promise, from text to settings or to the words of an error.

mod errors;
mod login;
mod precedence;
mod rooms;
mod shipped;

use super::*;

/// The settings that a file with this text gives.
fn settings(text: &str) -> Settings {
    match Settings::from_text(text, &Overrides::default()) {
        Ok(settings) => settings,
        Err(errors) => panic!("{errors}"),
    }
}

/// What a file with this text is told.
fn errors(text: &str) -> ConfigErrors {
    Settings::from_text(text, &Overrides::default()).unwrap_err()
}

/// The policy of a room of these settings.
fn policy<'a>(settings: &'a Settings, room: &str) -> &'a Policy {
    &settings.rooms[&RoomId::parse(room).unwrap()].policy
}
