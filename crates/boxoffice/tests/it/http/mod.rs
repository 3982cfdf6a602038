//! The box office over HTTP, before a real waiting room.

pub(crate) mod house;
mod switch;

mod points;
