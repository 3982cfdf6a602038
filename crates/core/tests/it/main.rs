//! What a room promises, tried on the state machine itself.

mod absent;
mod healing;
mod judge;
mod plain;
mod properties;
mod rules;
