//! Groups of real servers that fail over, as other tests use them.

mod cluster;
mod fleet;
mod partition;
mod sentinel;
mod standalone;
