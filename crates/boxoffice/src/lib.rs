//! The concert box office behind the gate: users, points, dates, seats, holds and payments, on SQL and [over HTTP](http).
//!
//! [`BoxOffice`] has one method for each thing that can be asked of it, and each is one transaction of
//! the [`Database`]: it happens as a whole or leaves no trace. What must never happen (a seat sold
//! twice, a balance below zero, a booking paid twice) is forbidden by constraints of the database, so
//! that it holds however many processes sell at once.
//!
//! Every method takes the time of the caller's clock. On PostgreSQL the database's own clock counts, so that box offices
//! on one database need not agree; see [`DatabaseTime`]. Amounts are whole [`Points`].

mod ids;
mod points;
mod time;
mod zone;

mod error;

mod database;

mod office;

mod concerts;
mod holds;
mod keys;
mod ledger;
mod outbox;
mod payment;
mod receipt;
mod secrets;
mod users;

pub mod http;
mod pages;

pub use concerts::{
    Concert, ConcertChange, ConcertDate, ConcertDraft, DEMO_SEATS, Name, Seat, SeatDraft,
    SeatState, VenueChange,
};
pub use database::{Database, DatabaseTime};
pub use error::{Error, Refusal};
pub use holds::{Business, Held, PassHeld, Reservation, ReservationState, Swept};
pub use ids::{ConcertId, DateId, OutboxId, PaymentId, ReservationId, SeatId, UserId};
pub use ledger::{Books, Charged};
pub use office::{BoxOffice, Rules};
pub use outbox::PassToFinish;
pub use payment::{Paid, Payment};
pub use points::Points;
pub use receipt::Receipt;
pub use ropeline_web::IdempotencyKey;
pub use users::Account;
pub use zone::Zone;
