//! What is for sale.

mod create;
mod demo;
mod list;

pub(crate) use create::SEATS_MAX;
pub use create::{ConcertDraft, SeatDraft};
pub use demo::DEMO_SEATS;
pub use list::{ConcertDate, Seat, SeatState};
