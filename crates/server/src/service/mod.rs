//! What a service behind the gate may ask of a room: in the same process as its [`Gatekeeper`](ropeline_gate::Gatekeeper).

mod gatekeeper;
mod rules;

pub(crate) use gatekeeper::InProcess;
