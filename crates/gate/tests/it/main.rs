//! The gate before a service, and the gatekeeper that asks over HTTP.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod behind;
mod doorman;
mod failing;
mod hostile;
mod issuing;
mod judging;
mod outermost;
mod raw;
mod room;
mod rooms;
