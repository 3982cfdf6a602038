//! Which server has which keys: the one that is named, the master that Sentinels name, or the owner of a slot.
//!
//! What is known is used until a call fails or the server says that it is the wrong one; then it is looked for
//! anew before the next call. Besides it is looked for every second, since a master that was replaced may not
//! know it yet.

mod cluster;
mod group;
mod map;
mod sentinel;
mod votes;
mod vouch;

use std::{
    collections::BTreeSet,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use arc_swap::ArcSwap;
use redis::{ErrorKind, RedisError, ServerErrorKind};
use thiserror::Error;
use tokio::time::Instant;

use self::{cluster::Cluster, map::Map, sentinel::Sentinels, vouch::Vouches};
pub(super) use self::{
    group::{Group, Replica, Shard, Watch},
    vouch::{Freshness, Vouch},
};
use super::{
    pool::Limits,
    slot::Slot,
    url::{Address, Place, RedisUrl},
};

/// Those who know where a server is are asked all at once, and no longer than this: one of them may be what has
/// failed.
const ASKED: Limits = Limits {
    connect: Duration::from_millis(300),
    answer: Duration::from_millis(300),
};

/// Which server has which keys.
#[derive(Debug)]
pub(super) struct Servers {
    guide: Guide,
    map: ArcSwap<Map>,
    vouches: Vouches,
    /// Servers that a call to has failed since it was last looked.
    doubted: Mutex<BTreeSet<Address>>,
    looking: tokio::sync::Mutex<()>,
    looks: AtomicU64,
}

/// Who knows where the servers are.
#[derive(Debug)]
enum Guide {
    /// The operator does.
    Operator,
    Sentinels(Sentinels),
    Cluster(Cluster),
}

/// Why nobody knows where a server is.
#[derive(Debug, Clone, Error)]
pub(super) enum Lost {
    #[error("no Sentinel answers ({0})")]
    NoSentinel(String),
    #[error("the Sentinels know no master named {name:?}; {known}")]
    NoMaster { name: String, known: String },
    #[error("no server of the Cluster answers ({0})")]
    NoCluster(String),
    #[error("no server of the Cluster owns the slot {}; see CLUSTER INFO", .0.0)]
    NoOwner(Slot),
    #[error("{0}")]
    Refused(String),
    #[error(
        "no majority of those who watch over Redis confirms that {0} is in charge: it may have been replaced"
    )]
    NotVouchedFor(Address),
}

impl Lost {
    /// Whether something has to be changed, so that asking again would not help.
    pub(super) fn is_refusal(&self) -> bool {
        matches!(self, Self::Refused(_) | Self::NoMaster { .. })
    }
}

impl Servers {
    pub(super) fn of(url: &RedisUrl) -> Self {
        let (guide, map) = match &url.place {
            Place::Server(address) => (Guide::Operator, Map::of_one(address.clone())),
            Place::Sentinels {
                sentinels,
                master,
                login,
            } => (
                Guide::Sentinels(Sentinels::new(sentinels, master, login.clone())),
                Map::default(),
            ),
            Place::Cluster(named) => (Guide::Cluster(Cluster::new(url, named)), Map::default()),
        };
        Self {
            guide,
            map: ArcSwap::from_pointee(map),
            vouches: Vouches::default(),
            doubted: Mutex::default(),
            looking: tokio::sync::Mutex::default(),
            looks: AtomicU64::new(0),
        }
    }

    /// The server that has the keys of a slot.
    pub(super) async fn owner(&self, slot: Slot) -> Result<Address, Lost> {
        let looks = self.looks.load(Ordering::Acquire);
        if let Some(owner) = self.map.load().owner(slot)
            && !self.lock_doubted().contains(owner)
        {
            return Ok(owner.clone());
        }
        let looked = self.look_again(looks).await;
        match self.map.load().owner(slot) {
            // Nobody may know better, but whoever is known may have come back.
            Some(owner) => Ok(owner.clone()),
            None => Err(looked.err().unwrap_or(Lost::NoOwner(slot))),
        }
    }

    /// A call to this server has failed: it is looked for anew before the next one.
    pub(super) fn doubt(&self, server: &Address) {
        if !self.is_fixed() {
            self.lock_doubted().insert(server.clone());
        }
    }

    /// A server has said who has the slot.
    pub(super) fn moved(&self, slot: Slot, to: &Address) {
        self.map.rcu(|map| map.with_moved(slot, to.clone()));
    }

    /// Whether there is nothing to be looked for.
    pub(super) fn is_fixed(&self) -> bool {
        matches!(self.guide, Guide::Operator)
    }

    /// All servers that have keys.
    pub(super) fn owners(&self) -> BTreeSet<Address> {
        self.map.load().owners().cloned().collect()
    }

    /// Looks whether the servers are still where they were.
    pub(super) async fn review(&self) -> Result<(), Lost> {
        self.look_again(self.looks.load(Ordering::Acquire)).await
    }

    /// That a server may be relied upon for the keys of a slot, by word that is fresh enough: most of those who watch
    /// over the servers name it. One that was cut off from the others goes on for a while as if nothing had happened.
    pub(super) async fn vouch(&self, slot: Slot, fresh: Freshness) -> Result<Vouch, Lost> {
        if self.is_fixed() {
            return Ok(Vouch::OF_THE_OPERATOR);
        }
        let owner = self.owner(slot).await?;
        if let Some(vouch) = self.vouches.get(&owner, fresh) {
            return Ok(vouch);
        }
        self.review().await?;
        let owner = self.owner(slot).await?;
        let vouch = self.vouches.get(&owner, fresh);
        vouch.ok_or(Lost::NotVouchedFor(owner))
    }

    /// The term of the server that has the keys of a slot, as far as it is known; 0 where nobody watches over it.
    pub(super) fn term(&self, slot: Slot) -> u64 {
        let map = self.map.load();
        let owner = map.owner(slot).filter(|_| !self.is_fixed());
        owner.map_or(0, |owner| self.vouches.term(owner))
    }

    /// Whether most of those who have a say in it take this server for one that has keys. One that was cut
    /// off from the others goes on for a while as if nothing had happened.
    pub(super) async fn is_vouched_for(&self, server: &Address) -> bool {
        match &self.guide {
            Guide::Operator => true,
            Guide::Sentinels(sentinels) => sentinels.vouch_for(server).await,
            Guide::Cluster(cluster) => cluster.vouch_for(server, &self.owners()).await,
        }
    }

    /// All servers, as those see them who watch over them.
    pub(super) async fn group(&self) -> Group {
        match &self.guide {
            Guide::Operator => Group::Single,
            Guide::Sentinels(sentinels) => sentinels.watch().await,
            Guide::Cluster(cluster) => Group::Cluster(cluster.shards(&self.owners()).await),
        }
    }

    /// Looks, unless somebody has since `looks` was read.
    async fn look_again(&self, looks: u64) -> Result<(), Lost> {
        let _one_at_a_time = self.looking.lock().await;
        if self.looks.load(Ordering::Acquire) != looks {
            return Ok(());
        }
        let asked = Instant::now();
        let seen = match &self.guide {
            Guide::Operator => return Ok(()),
            Guide::Sentinels(sentinels) => {
                let known = self.owners();
                sentinels.look(known.first()).await
            }
            Guide::Cluster(cluster) => cluster.look(&self.owners()).await,
        };
        self.looks.fetch_add(1, Ordering::AcqRel);
        self.lock_doubted().clear();
        let Seen { map, vouched } = seen?;
        self.vouches.note(vouched, asked);
        if *self.map.load_full() != map {
            if self.map.load().owners().next().is_some() {
                tracing::warn!(servers = %map, "Redis has moved");
            }
            self.map.store(Arc::new(map));
        }
        Ok(())
    }

    fn lock_doubted(&self) -> MutexGuard<'_, BTreeSet<Address>> {
        self.doubted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where the servers are, as those say who know.
#[derive(Debug)]
struct Seen {
    map: Map,
    /// Servers that a majority takes for those in charge, each with its term if somebody said it.
    vouched: Vec<(Address, Option<u64>)>,
}

/// Whether a server has said that it has not, or no longer, or not yet, what was asked for.
pub(super) fn is_elsewhere(error: &RedisError) -> bool {
    matches!(
        error.kind(),
        ErrorKind::Server(
            ServerErrorKind::ReadOnly
                | ServerErrorKind::ClusterDown
                | ServerErrorKind::MasterDown
                | ServerErrorKind::Moved
                | ServerErrorKind::Ask
        )
    )
}
