//! What the product on Redis is held to, among what was measured here.

use super::{super::Load, names};
use crate::goals::{Bound, Goal};

/// One of ours, one of theirs, and how many times as fast it should be.
const GOALS: [(&str, &str, &str, f64, &str); 11] = [
    (
        "status, on Redis",
        names::STATUS,
        names::PLAIN_STATUS,
        1.7,
        "× plain",
    ),
    (
        "status, beside a table with 100 thousand waiting",
        names::STATUS,
        names::TABLE_STATUS,
        100.0,
        "× table",
    ),
    (
        "join on Redis, log synced every second (alone not durable)",
        names::JOIN,
        names::HELLO,
        0.50,
        "× hello",
    ),
    (
        "join on Redis",
        names::JOIN,
        names::PLAIN_JOIN,
        1.7,
        "× plain",
    ),
    (
        "join on Redis, beside `KEYS` with 3,333 inside",
        names::JOIN,
        names::KEYS_MANY,
        50.0,
        "× `KEYS`",
    ),
    (
        "join on Redis, one replica has it (`WAIT 1`)",
        names::JOIN_REPLICATED,
        names::HELLO,
        0.40,
        "× hello",
    ),
    (
        "gate check with renewal, on Redis",
        names::GATE,
        names::HELLO,
        0.45,
        "× hello",
    ),
    (
        "status, on Redis, beside hello",
        names::STATUS,
        names::HELLO,
        0.90,
        "× hello",
    ),
    (
        "join on Redis, 256 connections",
        names::CROWD_JOIN,
        names::CROWD_HELLO,
        0.50,
        "× hello",
    ),
    (
        "join on Redis, 256 connections, beside plain",
        names::CROWD_JOIN,
        names::CROWD_PLAIN_JOIN,
        1.7,
        "× plain",
    ),
    (
        "gate check with renewal, on Redis, 256 connections",
        names::CROWD_GATE,
        names::CROWD_HELLO,
        0.45,
        "× hello",
    ),
];

/// None where the product was not measured.
pub(crate) fn of(loads: &[Load]) -> Vec<Goal> {
    let goals = GOALS
        .iter()
        .filter_map(|&(what, ours, theirs, bound, unit)| {
            let ratios = Load::ratios(loads, ours, theirs)?;
            Some(Goal::new(what, Bound::AtLeast(bound), unit, &ratios))
        });
    goals.collect()
}
