//! The box office over HTTP, before a real waiting room.

mod house;
mod switch;

mod points;
