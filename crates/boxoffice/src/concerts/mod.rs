//! What is for sale.

mod change;
mod create;
mod demo;
mod list;

pub use change::{Concert, ConcertChange, VenueChange};
pub(crate) use create::SEATS_MAX;
pub use create::{ConcertDraft, Name, SeatDraft};
pub use demo::DEMO_SEATS;
pub use list::{ConcertDate, Seat, SeatState};
