//! What a store promises, on real files.

mod crash;
mod durability;
mod given;
mod model;
mod presence;
