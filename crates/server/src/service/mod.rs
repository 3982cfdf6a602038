//! What a service behind the gate may ask of a room: in the same process as its [`Gatekeeper`](ropeline_gate::Gatekeeper),
//! or over HTTP with the service key.

mod gatekeeper;
mod key;
mod routes;
mod rules;
mod shapes;

pub(crate) use gatekeeper::InProcess;
pub(crate) use routes::{finish, join, keep, ready, stock, verify};
pub(crate) use shapes::schemas;
