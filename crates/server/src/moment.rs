//! Times of day as people and programs read them.

use ropeline_core::Timestamp;
use serde::{Serialize, Serializer};

/// A moment as RFC 3339 in UTC.
#[derive(Debug, Clone, Copy)]
pub struct Moment(pub Timestamp);

impl std::fmt::Display for Moment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ms = i64::try_from(self.0.0).unwrap_or(i64::MAX);
        match jiff::Timestamp::from_millisecond(ms) {
            Ok(moment) => write!(f, "{moment:.3}"),
            Err(_) => f.write_str("9999-12-31T23:59:59.999Z"),
        }
    }
}

impl Serialize for Moment {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
