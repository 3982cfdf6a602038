//! How much one peer may ask of the server.

use std::{ops::RangeInclusive, time::Duration};

use ropeline_web::Limits;

use super::{
    keys,
    section::Section,
    value::{count_within, duration_within},
};

/// Below the first, honest peers on slow networks are cut off; beyond the last, it is no limit.
const PATIENCE: RangeInclusive<Duration> = Duration::from_millis(100)..=Duration::from_secs(3600);
/// No patience at all is a choice when stopping.
const DRAIN: RangeInclusive<Duration> = Duration::ZERO..=Duration::from_secs(3600);
/// More than one process can have files open.
const CONNECTIONS: RangeInclusive<usize> = 1..=1_000_000;
/// None, or no more than there may be in all.
const PER_ADDRESS: RangeInclusive<usize> = 0..=1_000_000;
/// A join fits into the first; the last, times the connections, must still fit into memory.
const BODY_BYTES: RangeInclusive<usize> = 1024..=16 * 1024 * 1024;
/// Browsers behind two proxies send about thirty.
const HEADERS: RangeInclusive<usize> = 32..=1000;
/// A queue token with its cookie must fit.
const HEAD_BYTES: RangeInclusive<usize> = 4096..=1024 * 1024;

/// Reads `[limits]` into its defaults.
pub(super) fn read(file: &mut Section<'_>, limits: &mut Limits) {
    let Some(mut section) = file.section("limits", &keys::LIMITS) else {
        return;
    };
    for (key, slot) in [
        ("first_byte", &mut limits.first_byte),
        ("header", &mut limits.header),
        ("idle", &mut limits.idle),
        ("body", &mut limits.body),
        ("write_stall", &mut limits.write_stall),
    ] {
        section.set(slot, key, duration_within(PATIENCE));
    }
    section.set(&mut limits.drain, "drain", duration_within(DRAIN));
    for (key, slot, bounds) in [
        ("connections_max", &mut limits.connections_max, CONNECTIONS),
        (
            "connections_per_address",
            &mut limits.connections_per_address,
            PER_ADDRESS,
        ),
        ("body_bytes_max", &mut limits.body_bytes_max, BODY_BYTES),
        ("headers_max", &mut limits.headers_max, HEADERS),
        ("head_bytes_max", &mut limits.head_bytes_max, HEAD_BYTES),
    ] {
        section.set(slot, key, count_within(bounds));
    }
}
