//! Masters that share the slots among them, each with a replica.

mod assemble;
mod migrate;
mod view;

use std::{
    ops::{Deref, DerefMut},
    time::Duration,
};

pub use self::migrate::Moving;
use self::view::Seen;
use super::{
    Persistence,
    addresses::Addresses,
    process::wait_until,
    servers::{Clocks, PATIENCE, TestServers},
};

const MASTERS: u8 = 3;
const SERVERS: u8 = 2 * MASTERS;
const SLOTS: u16 = 16_384;

/// How a cluster is set up.
#[derive(Debug, Clone)]
pub struct ClusterOptions {
    /// How long a server is silent before the others take it for dead.
    pub node_timeout: Duration,
    /// Whether what the servers were told survives their restart.
    pub persistence: Persistence,
    /// Which wall clocks the servers live by.
    pub clocks: Clocks,
    /// Lines for the servers' file of settings.
    pub settings: Vec<String>,
}

impl Default for ClusterOptions {
    fn default() -> Self {
        Self {
            node_timeout: Duration::from_secs(1),
            persistence: Persistence::Always,
            clocks: Clocks::default(),
            settings: Vec::new(),
        }
    }
}

/// Three masters with a third of the slots and a replica each, every server at a loopback address of its own.
///
/// Servers 0 to 2 are the first masters, and 3 to 5 their replicas in the same order.
#[derive(Debug)]
pub struct TestCluster {
    servers: TestServers,
    ids: Vec<String>,
    _addresses: Addresses,
}

impl TestCluster {
    /// A cluster with short time-outs that is whole.
    pub fn start() -> Self {
        Self::with(&ClusterOptions::default())
    }

    /// As [`TestCluster::start`], set up otherwise.
    pub fn with(options: &ClusterOptions) -> Self {
        let addresses = Addresses::claim();
        let servers = assemble::start(&addresses, options);
        let cluster = Self {
            ids: assemble::join(&servers),
            servers,
            _addresses: addresses,
        };
        cluster.wait_whole();
        cluster
    }

    /// The cluster's address as `--store` takes it, with the first three servers.
    pub fn url(&self) -> String {
        let hosts = (0..MASTERS.into()).map(|server| self.address(server).to_string());
        format!("redis+cluster://{}", hosts.collect::<Vec<_>>().join(","))
    }

    /// All servers.
    pub fn servers(&self) -> &TestServers {
        &self.servers
    }

    /// The slot that a key belongs to.
    pub fn slot_of(&self, key: &str) -> u16 {
        wait_until(PATIENCE, "somebody knows the slot", || {
            (0..self.count()).find_map(|server| {
                let slot = self.ask(server, &["CLUSTER", "KEYSLOT", key])?;
                slot.parse().ok()
            })
        })
    }

    /// The server that owns a key's slot.
    pub fn owner_of(&self, key: &str) -> usize {
        self.owner_of_slot(self.slot_of(key))
    }

    /// The server that owns a slot; of two that believe so, the one that is right.
    pub fn owner_of_slot(&self, slot: u16) -> usize {
        wait_until(PATIENCE, "somebody owns the slot", || self.claims(slot))
    }

    /// The replica of a master.
    pub fn replica_of(&self, master: usize) -> usize {
        wait_until(PATIENCE, "the master has a replica", || {
            (0..self.count()).find(|&server| self.follows(server, master))
        })
    }

    /// Lets a replica take its master's place as an operator would, and waits until it has.
    pub fn failover(&self, replica: usize) {
        let answer = self.cli(replica, &["CLUSTER", "FAILOVER"]);
        assert_eq!(answer, "OK", "server {replica} cannot take over");
        wait_until(PATIENCE, "the replica is a master", || {
            self.is_master(replica).then_some(())
        });
    }

    /// Waits until another server owns the key's slot and serves it.
    pub fn wait_for_new_owner(&self, key: &str, old: usize) -> usize {
        let slot = self.slot_of(key);
        wait_until(PATIENCE, "another server owns the slot", || {
            let owner = self.claims(slot).filter(|&owner| owner != old)?;
            self.is_ok(owner).then_some(owner)
        })
    }

    /// Waits until all servers run, see each other well, and every master has a replica that follows it.
    pub fn wait_whole(&self) {
        wait_until(PATIENCE, "the cluster is whole", || {
            let whole = (0..self.count()).all(|server| self.sees_whole(server));
            whole.then_some(())
        });
    }

    /// Waits until every server that runs knows who owns a slot.
    fn wait_known(&self, slot: u16, owner: usize) {
        let knows = |server| {
            let view = self.view(server);
            let owners: Vec<_> = view.iter().filter(|seen| seen.owns(slot)).collect();
            view.is_empty() || owners.iter().map(|seen| &seen.id).eq([&self.ids[owner]])
        };
        wait_until(PATIENCE, "all know the slot's owner", || {
            (0..self.count()).all(knows).then_some(())
        });
    }

    /// How a server sees itself and the others; nothing if it does not answer.
    fn view(&self, server: usize) -> Vec<Seen> {
        let answer = self.ask(server, &["CLUSTER", "NODES"]);
        view::read(&answer.unwrap_or_default())
    }

    /// Which of some servers owns a slot now; of two that believe so, the one that is right.
    pub fn owner_among(&self, servers: &[usize], slot: u16) -> Option<usize> {
        let claim = |server| {
            let view = self.view(server);
            let own = view.into_iter().find(|seen| seen.is("myself"))?;
            own.owns(slot).then_some((own.epoch, server))
        };
        let claims = servers.iter().copied().filter_map(claim);
        claims.max().map(|(_, server)| server)
    }

    fn claims(&self, slot: u16) -> Option<usize> {
        let all: Vec<_> = (0..self.count()).collect();
        self.owner_among(&all, slot)
    }

    /// Whether a server holds the slots for served.
    fn is_ok(&self, server: usize) -> bool {
        self.ask(server, &["CLUSTER", "INFO"])
            .is_some_and(|answer| answer.contains("cluster_state:ok"))
    }

    fn sees_whole(&self, server: usize) -> bool {
        let view = self.view(server);
        let masters: Vec<_> = view.iter().filter(|seen| seen.is("master")).collect();
        view.len() == self.count()
            && masters.len() == usize::from(MASTERS)
            && view.iter().all(Seen::is_well)
            && self.is_ok(server)
            && view.iter().all(|seen| self.is_as_seen(seen))
            && masters.iter().all(|master| has_replica(master, &view))
            && self.tells_of_all(server)
    }

    /// Whether a server tells its clients of every other. It hides a replica until it has heard from it how
    /// far it has come.
    fn tells_of_all(&self, server: usize) -> bool {
        let slots = self.ask(server, &["CLUSTER", "SLOTS"]);
        slots.is_some_and(|slots| self.ids.iter().all(|id| slots.contains(id)))
    }

    /// Whether what is seen of a server is what it is.
    fn is_as_seen(&self, seen: &Seen) -> bool {
        let number = |id: &str| self.ids.iter().position(|it| it == id);
        let Some(server) = number(&seen.id) else {
            return false;
        };
        match &seen.master {
            Some(master) => number(master).is_some_and(|master| self.follows(server, master)),
            None => self.is_master(server),
        }
    }
}

fn has_replica(master: &Seen, view: &[Seen]) -> bool {
    let mut others = view.iter();
    others.any(|seen| seen.master.as_ref() == Some(&master.id))
}

impl Deref for TestCluster {
    type Target = TestServers;

    fn deref(&self) -> &TestServers {
        &self.servers
    }
}

impl DerefMut for TestCluster {
    fn deref_mut(&mut self) -> &mut TestServers {
        &mut self.servers
    }
}
