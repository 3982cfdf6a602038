//! What a service behind the gate asks of a room, over HTTP and in the same process.

mod business;
mod joining;
mod judging;
mod key;
mod way;
