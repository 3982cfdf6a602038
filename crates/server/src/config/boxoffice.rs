//! The concert box office behind the gate.

use std::{ops::RangeInclusive, time::Duration};

use ropeline_core::RoomId;

use super::{
    keys,
    section::Section,
    value::{Wrong, count_within, duration_within, flag, text},
};

/// Shorter and nobody can pay in time; longer and a pass would be kept for more than a day.
const HOLD_TTL: RangeInclusive<Duration> = Duration::from_secs(1)..=Duration::from_secs(24 * 3600);
/// Nobody sits on more chairs than this.
const HOLDS_MAX: RangeInclusive<usize> = 1..=1000;

/// How the box office sells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoxOfficeSettings {
    /// Whether it is beside the rooms.
    pub enabled: bool,
    /// The room that its buyers come through.
    pub room: RoomId,
    /// How long a reservation holds its seat.
    pub hold_ttl: Duration,
    /// How many seats a user can hold at once, bought ones not counted.
    pub holds_max: u32,
}

/// Reads `[boxoffice]` into its defaults.
pub(super) fn read(file: &mut Section<'_>, settings: &mut BoxOfficeSettings) {
    let Some(mut section) = file.section("boxoffice", &keys::BOXOFFICE) else {
        return;
    };
    section.set(&mut settings.enabled, "enabled", flag);
    section.set(&mut settings.room, "room", |value| {
        RoomId::parse(text(value)?).map_err(|error| Wrong::new(error.to_string()))
    });
    section.set(
        &mut settings.hold_ttl,
        "hold_ttl",
        duration_within(HOLD_TTL),
    );
    section.set(&mut settings.holds_max, "holds_max", |value| {
        let count = count_within(HOLDS_MAX)(value)?;
        Ok(u32::try_from(count).expect("the bounds fit"))
    });
}
