//! What a room promises, tried on the state machine itself.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![expect(clippy::print_stdout, reason = "the tally shows what was tried")]

mod absent;
mod deletion;
mod estimates;
mod healing;
mod import;
mod judge;
mod plain;
mod properties;
mod resume;
mod rules;
mod stock;
