//! The box office over HTTP, before a real waiting room.

pub(crate) mod ask;
pub(crate) mod house;
pub(crate) mod switch;

mod acceptance;
mod clocks;
mod documents;
mod matrix;
mod operators;
mod outage;
mod passes;
mod points;
mod purchase;
mod rates;
mod refusals;
mod standalone;
mod stock;
