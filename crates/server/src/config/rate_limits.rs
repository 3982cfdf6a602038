//! How much one address may ask in a minute.

use std::ops::RangeInclusive;

use toml::de::DeValue;

use super::{
    RateLimits, keys,
    section::Section,
    value::{Wrong, count_within},
};

/// Beyond the last, it is no limit; 0 says so.
const PER_MINUTE: RangeInclusive<usize> = 0..=1_000_000;

/// Reads `[rate_limits]` into its defaults.
pub(super) fn read(file: &mut Section<'_>, limits: &mut RateLimits) {
    let Some(mut section) = file.section("rate_limits", &keys::RATE_LIMITS) else {
        return;
    };
    for (key, slot) in [
        ("joins_per_minute", &mut limits.joins_per_minute),
        ("admin_per_minute", &mut limits.admin_per_minute),
        (
            "admin_failures_per_minute",
            &mut limits.admin_failures_per_minute,
        ),
    ] {
        section.set(slot, key, per_minute);
    }
}

/// How much within a minute; 0 is no limit.
pub(super) fn per_minute(value: &DeValue<'_>) -> Result<u32, Wrong> {
    let count = count_within(PER_MINUTE)(value)?;
    Ok(u32::try_from(count).expect("the bounds fit"))
}
