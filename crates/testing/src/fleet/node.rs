//! What a node can be asked for, whatever rule it follows.

use ropeline_core::{Ending, Holder, Ordinal, ServerId, Timestamp, View, Visitor};

use super::{network::Network, schedule::Millis};

/// The logic of one node: what it remembers, and how it deals with a store that may have forgotten.
pub(super) trait Node {
    /// The process begins, with the record that it finds.
    fn start(&mut self, record: Record<'_>);
    /// What a node does by itself, some times a second: follow the room, settle it, merge.
    fn tick(&mut self, network: &mut Network);
    /// Asks the store for a place.
    fn join(&mut self, visitor: &Visitor, network: &mut Network) -> Joining;
    /// Whether what the store gave may be acknowledged now.
    fn may_acknowledge(&mut self, given: &Given, network: &mut Network) -> bool;
    /// Notes that a place was acknowledged.
    fn acknowledged(&mut self, holder: &Holder, now: Millis);
    /// Where the holder of a token stands.
    fn poll(&mut self, asking: &Asking, network: &mut Network) -> Shown;
    /// Gives up a place or a pass; whether that is confirmed, and with which version.
    fn leave(&mut self, asking: &Asking, network: &mut Network) -> Option<u64>;
    /// Whether the gate opens.
    fn enter(&mut self, asking: &Asking, network: &mut Network) -> bool;
    /// Deletes the room; the epoch that ended with it.
    fn delete(&mut self, network: &mut Network) -> Option<Timestamp>;
    /// Creates the room, if it was deleted.
    fn create(&mut self, network: &mut Network);
    /// The server on which its gate relies now.
    fn gate_server(&self, network: &Network) -> Option<usize>;
    /// What it writes to its disk.
    fn memory(&self) -> Option<View>;
    /// What it shows.
    fn view(&self) -> Option<&View>;
    /// Up to when it knows that what it shows is so.
    fn as_of(&self) -> Millis;
}

/// What a node finds on its disk: never who holds a place.
#[derive(Debug, Clone, Copy)]
pub(super) enum Record<'a> {
    /// It has never served this store, or its disk is another one.
    None,
    /// Something that cannot be read.
    Damaged,
    /// What it knew.
    Of(&'a View),
}

/// What came of a join.
#[derive(Debug)]
pub(super) enum Joining {
    /// The store has given a place.
    Given(Given),
    /// To be tried again in a moment: the nodes are merging what they know.
    Held,
    /// Not now.
    Refused,
}

/// A place that the store gave, and that the visitor has not received.
#[derive(Debug, Clone)]
pub(super) struct Given {
    pub(super) ordinal: Ordinal,
    pub(super) epoch: Timestamp,
    /// The name of the room's server when the place was given.
    pub(super) under: ServerId,
}

/// What a client sends.
#[derive(Debug, Clone)]
pub(super) struct Asking {
    pub(super) holder: Holder,
    pub(super) epoch: Timestamp,
    /// The highest version that it has seen.
    pub(super) version: u64,
    /// The lowest `ahead` that it was shown.
    pub(super) ahead: Option<u64>,
}

/// What a client that polls is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shown {
    InLine {
        ahead: u64,
        version: u64,
    },
    AtDoor {
        version: u64,
    },
    Inside {
        version: u64,
    },
    Ended(Ending),
    /// The token is of a room that is no more.
    Void,
    /// Nothing that might be wrong: 503.
    Nothing,
}
