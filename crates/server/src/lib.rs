//! The Ropeline server: a waiting room over HTTP.
//!
//! [`Ready::prepare`] opens everything that [`Settings`](config::Settings) name, [`Ready::serve`] answers
//! requests until it is told to stop.

mod admin;
mod app;
pub mod audit;
mod beside;
pub mod config;
pub mod error;
mod follow;
mod health;
mod login;
mod metrics;
mod moment;
mod openapi;
mod pages;
pub mod problems;
mod queue;
mod router;
mod service;
mod shared;
mod start;
pub mod token;

pub use beside::{Beside, SharedLogin};
pub use login::LoginKeyError;
pub use moment::Moment;
pub use openapi::reader as api_docs;
pub use shared::{KeyPlace, SharedKeyError};
pub use start::{
    AdminKeyNote, NewAdminKey, Offline, Ready, Reloader, RoomNote, StartError, Started, StartedRoom,
};
