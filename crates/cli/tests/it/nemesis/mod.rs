//! Faults that overlap at random, on real servers and nodes, judged by the record of every answer.
//!
//! A seed decides which faults come, when, and for how long. Two rooms suffer them: one with a crowd that polls, comes in
//! and leaves, and one with people who join and are never heard of again, until an operator and then they themselves ask
//! for their place at the end.

mod apart;
mod campaign;
mod dice;
mod fault;
mod inject;
mod quick;
mod records;
mod run;
mod schedule;
mod store;
mod table;
mod watch;

/// How many nodes there are.
const NODES: usize = 3;
