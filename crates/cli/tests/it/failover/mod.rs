//! Redis fails over under load: real nodes on real Sentinels or a real Cluster, a crowd before them, and a record of
//! every answer, held against the same rules as ever.
//!
//! Besides the crowd there are those who join and are never heard of again. What a store has forgotten comes back
//! with whoever asks for it; they do not ask, so an operator does, and finds them only if nothing was lost.

mod away;
mod cluster;
mod cut;
mod faults;
mod rooms;
mod sentinel;
pub(crate) mod story;
pub(crate) mod table;
mod unconfirmed;
mod witness;
