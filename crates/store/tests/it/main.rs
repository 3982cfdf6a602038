//! What a store promises, on real files and real servers.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![expect(clippy::print_stdout, reason = "the tally shows what was tried")]

mod backing;
mod carry;
mod conformance;
mod damaged_database;
mod durability;
mod given;
mod journal;
mod model;
mod redis;
mod redis_url;
