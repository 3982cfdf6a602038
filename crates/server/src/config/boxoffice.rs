//! The concert box office behind the gate.

use std::{ops::RangeInclusive, time::Duration};

use ropeline_core::RoomId;
use toml::de::DeValue;

use super::{
    DatabaseUrl, StoreChoice, keys,
    rate_limits::per_minute,
    section::Section,
    value::{Wrong, count_within, duration_within, flag, text},
};

/// Shorter and nobody can pay in time; longer and a pass would be kept for more than a day.
const HOLD_TTL: RangeInclusive<Duration> = Duration::from_secs(1)..=Duration::from_secs(24 * 3600);
/// Nobody sits on more chairs than this.
const SEATS_MAX: RangeInclusive<usize> = 1..=1000;
/// Longer, and the sale is over for that buyer.
const HOLD_COOLDOWN: RangeInclusive<Duration> = Duration::ZERO..=Duration::from_secs(24 * 3600);
/// Longer, and nobody remembers what was held.
const LATE_PAYMENT: RangeInclusive<Duration> = Duration::ZERO..=Duration::from_secs(24 * 3600);

/// How the box office sells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoxOfficeSettings {
    /// Whether it is beside the rooms. By default that is so without a settings file, and with one only if that has a
    /// section `[boxoffice]`.
    pub enabled: bool,
    /// Whether there is a settings file that has no such section.
    pub left_out: bool,
    /// The room that its buyers come through.
    pub room: RoomId,
    /// How long a reservation holds its seat.
    pub hold_ttl: Duration,
    /// How many seats a user can hold at once, bought ones not counted.
    pub holds_max: u32,
    /// How many seats of one date a user can have, live holds and bought seats together.
    pub tickets_max: u32,
    /// How long a user cannot hold a seat again after their hold on it ended without payment.
    pub hold_cooldown: Duration,
    /// How many holds a user can make within a minute; 0 is no limit.
    pub holds_per_minute: u32,
    /// How long after its end a hold can still be paid for, while the seat is free.
    pub late_payment: Duration,
}

impl BoxOfficeSettings {
    /// Whether it serves next to the rooms of this store: nodes that share a Redis would each sell the same seats
    /// unless they share a database.
    pub fn serves_with(&self, store: &StoreChoice, database: Option<&DatabaseUrl>) -> bool {
        let one_set_of_books = match store {
            StoreChoice::Embedded => true,
            StoreChoice::Redis(_) => database.is_some(),
        };
        self.enabled && one_set_of_books
    }
}

/// Reads `[boxoffice]` into its defaults. A settings file without that section turns it off.
pub(super) fn read(file: &mut Section<'_>, settings: &mut BoxOfficeSettings) {
    let Some(mut section) = file.section("boxoffice", &keys::BOXOFFICE) else {
        (settings.enabled, settings.left_out) = (false, true);
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
    section.set(&mut settings.holds_max, "holds_max", seats);
    section.set(&mut settings.tickets_max, "tickets_max", seats);
    section.set(
        &mut settings.hold_cooldown,
        "hold_cooldown",
        duration_within(HOLD_COOLDOWN),
    );
    section.set(
        &mut settings.holds_per_minute,
        "holds_per_minute",
        per_minute,
    );
    section.set(
        &mut settings.late_payment,
        "late_payment",
        duration_within(LATE_PAYMENT),
    );
}

fn seats(value: &DeValue<'_>) -> Result<u32, Wrong> {
    let count = count_within(SEATS_MAX)(value)?;
    Ok(u32::try_from(count).expect("the bounds fit"))
}
