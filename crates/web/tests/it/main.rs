//! A served router as its clients see it, through raw sockets.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests fail as loudly as tests"
)]

mod answers;
mod bodies;
mod crowded;
mod event_loops;
mod extractors;
mod harness;
mod heads;
mod lifetime;
mod readers;
mod refusals;
mod shutdown;
