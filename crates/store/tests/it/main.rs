//! What a store promises, on real files.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
#![expect(clippy::print_stdout, reason = "the tally shows what was tried")]

mod carry;
mod crash;
mod deletion;
mod durability;
mod given;
mod import;
mod model;
mod presence;
mod redis;
mod redis_url;
