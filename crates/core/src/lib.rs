//! The rules of a waiting room.
//!
//! [`Room`] is a pure state machine: a command and the time go in, an [`Outcome`] comes out. There is
//! no I/O, no clock, no `async` and no randomness here, so that the same call gives the same answer in
//! a test, in a replay and in production. What a node shows to those who wait comes from a [`View`],
//! the read-only picture of a line.

mod bits;
mod claims;
mod clock;
mod deadlines;
mod estimate;
mod history;
mod ids;
mod keys;
mod pace;
mod places;
pub mod plan;
mod policy;
mod poll;
mod reasons;
mod room;
mod time;
mod view;

pub use bits::{BLOCK_BITS, Bits, Block};
pub use claims::{Claims, FORMAT, LANE_MAIN};
pub use clock::Clock;
pub use estimate::{Estimate, estimate, forecast};
pub use history::{Grade, History, Look, Rates, Turns, WAIT_BOUNDS, Waits};
pub use ids::{IdError, JoinKey, Ordinal, RoomId, UserId, Visitor};
pub use pace::Pace;
pub use policy::{FieldError, Identity, PRESETS, Policy, Preset};
pub use poll::{poll_after, poll_after_inside};
pub use reasons::{Reason, Reasons};
pub use room::{
    Bounds, Changes, Command, Counters, Departure, Ending, Header, Holder, ImportRow, Imported,
    Joined, Joiner, LEASE, Live, LoadError, LostRange, Outcome, Pass, Reply, Room, RoomState,
    Round, Saved, SavedPlace, ServerId, Stamp, Standing, Tick, VERSION_JUMP, Was,
};
pub use time::{RoomClock, Timestamp};
pub use view::{Located, View};
