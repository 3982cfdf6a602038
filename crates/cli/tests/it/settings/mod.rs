//! What stands in `ropeline.toml` reaches the server that was started with it.

mod durability;
mod limits;
mod log;
mod patience;
mod rooms;
mod server;
