//! What the server promises, over real sockets.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod admin;
mod app;
mod bad_input;
mod crowd;
mod gate;
mod health;
mod identity;
mod pages;
mod place;
