//! The gate before a service: nobody reaches it without a live pass of a waiting room.
//!
//! A [`Gatekeeper`] knows the room, in the same process or over HTTP.

mod keeper;
pub mod kinds;

pub use keeper::{Admitted, Decision, GateError, Gatekeeper, Refusal, Ticket, Waiting};
