//! Moments as the database keeps them.

use ropeline_core::Timestamp;

/// Milliseconds since the Unix epoch; what no column can hold is the end of time.
pub(crate) fn millis(at: Timestamp) -> i64 {
    i64::try_from(at.0).unwrap_or(i64::MAX)
}

/// The moment of a column.
pub(crate) fn moment(millis: i64) -> Timestamp {
    Timestamp(u64::try_from(millis).unwrap_or_default())
}
