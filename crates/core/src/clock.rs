//! Whoever tells the time; reading it is left to the edges.

use std::fmt::Debug;

use crate::Timestamp;

/// Tells the time.
pub trait Clock: Debug + Send + Sync {
    /// Now, in milliseconds since the Unix epoch.
    fn now(&self) -> Timestamp;
}
