//! The Ropeline server: a waiting room over HTTP.
//!
//! [`Ready::prepare`] opens everything that [`Settings`](config::Settings) name, [`Ready::serve`] answers
//! requests until it is told to stop.

mod admin;
mod app;
pub mod config;
pub mod error;
mod health;
mod metrics;
mod moment;
mod pages;
mod queue;
mod router;
mod start;
pub mod token;

pub use moment::Moment;
pub use start::{NewAdminKey, Ready, RoomNote, StartError, Started, StartedRoom};
