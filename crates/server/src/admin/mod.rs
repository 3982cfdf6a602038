//! For operators: rooms, visitors, figures.

mod audit;
mod control;
mod operator;
mod policy;
mod rooms;
mod session;
mod stats;
mod visitors;

pub(crate) use audit::Audit;
pub(crate) use control::{admit, close, drain, open, pause, reset, resume};
pub(crate) use rooms::{change, create, delete, room, rooms};
pub(crate) use session::Sessions;
pub(crate) use stats::{Histories, stats};
pub(crate) use visitors::{find, revoke};
