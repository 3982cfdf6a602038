//! Where waiting rooms are kept.
//!
//! [`Store`] is the contract; its documentation says what an observer may rely on, whatever is behind it.
//! [`EmbeddedStore`] keeps the rooms of one process in its memory and in a file; [`RedisStore`] keeps them on a
//! Redis that any number of processes share.

mod carry;
mod clock;
#[cfg(feature = "conformance")]
pub mod conformance;
mod embedded;
mod loops;
pub mod private;
mod redis;
mod store;

pub use carry::{CarryError, Freeze, Inventory, Named, Over, Stage, carry};
pub use clock::SystemClock;
#[cfg(feature = "measure")]
pub use embedded::Turning;
pub use embedded::{EmbeddedStore, OpenError};
pub use redis::{
    Durability, RedisOptions, RedisStore, RedisUrl, RedisUrlError, StoreTime, Unreached,
};
pub use ropeline_core::Clock;
pub use store::{Found, Health, Operation, Seen, Store, StoreError};
