//! All servers of a group, also those that have nothing to say yet.

use std::time::Duration;

use super::super::url::Address;

/// Who belongs together.
#[derive(Debug)]
pub(in crate::redis) enum Group {
    /// One server, as far as anybody says.
    Single,
    Sentinels(Watch),
    Cluster(Vec<Shard>),
}

/// What Sentinels watch.
#[derive(Debug)]
pub(in crate::redis) struct Watch {
    pub(in crate::redis) name: String,
    pub(in crate::redis) sentinels: usize,
    /// How long a master is silent before it is taken for dead.
    pub(in crate::redis) down_after: Duration,
    pub(in crate::redis) replicas: Vec<Replica>,
}

/// One that may be promoted.
#[derive(Debug)]
pub(in crate::redis) struct Replica {
    pub(in crate::redis) address: Address,
    /// The lowest is promoted first, and 0 never.
    pub(in crate::redis) priority: u32,
}

/// An owner of slots.
#[derive(Debug)]
pub(in crate::redis) struct Shard {
    pub(in crate::redis) owner: Address,
    pub(in crate::redis) replicas: Vec<Address>,
}

impl Group {
    /// Those that may take somebody's place.
    pub(in crate::redis) fn replicas(&self) -> Vec<Address> {
        match self {
            Self::Single => Vec::new(),
            Self::Sentinels(watch) => {
                let replicas = watch.replicas.iter();
                replicas.map(|replica| replica.address.clone()).collect()
            }
            Self::Cluster(shards) => {
                let replicas = shards.iter().flat_map(|shard| &shard.replicas);
                replicas.cloned().collect()
            }
        }
    }
}
