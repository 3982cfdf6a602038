//! Rooms on a Redis that any number of nodes share.

mod knock;
mod url;

pub use knock::Unreached;
pub use url::{RedisUrl, RedisUrlError};
