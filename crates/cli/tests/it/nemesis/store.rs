//! The servers that keep the rooms.

use std::time::Duration;

use ropeline_testing::{
    Clocks, ClusterOptions, Cut, SentinelOptions, Side, TestCluster, TestSentinels, TestServers,
    TestStandalone,
};

use super::{fault::Topology, schedule::Schedule};
use crate::failover::story::neighbour_of_main;

/// The key whose owner keeps the rooms.
const KEY: &str = "{main}";

/// The servers of a run.
pub(super) enum Store {
    Standalone(TestStandalone),
    Sentinel(TestSentinels),
    Cluster {
        servers: TestCluster,
        slot: u16,
        /// The servers that may own the slot.
        owners: [usize; 2],
        /// A room that the same servers keep as `main`.
        neighbour: String,
    },
    /// There is none.
    Apart,
}

impl Store {
    pub(super) fn start(schedule: &Schedule) -> Self {
        let (persistence, clocks) = (schedule.persistence, Clocks::Own);
        match schedule.topology {
            Topology::Standalone => Self::Standalone(TestStandalone::with(persistence, clocks)),
            Topology::Sentinel => Self::Sentinel(TestSentinels::with(&SentinelOptions {
                persistence,
                clocks,
                ..SentinelOptions::default()
            })),
            Topology::Cluster => Self::of_cluster(TestCluster::with(&ClusterOptions {
                persistence,
                clocks,
                ..ClusterOptions::default()
            })),
            Topology::Apart => Self::Apart,
        }
    }

    fn of_cluster(servers: TestCluster) -> Self {
        let owner = servers.owner_of(KEY);
        Self::Cluster {
            slot: servers.slot_of(KEY),
            owners: [owner, servers.replica_of(owner)],
            neighbour: neighbour_of_main(&servers),
            servers,
        }
    }

    /// Its address as `--store` takes it.
    pub(super) fn url(&self) -> Option<String> {
        match self {
            Self::Standalone(servers) => Some(servers.url()),
            Self::Sentinel(servers) => Some(servers.url()),
            Self::Cluster { servers, .. } => Some(servers.url()),
            Self::Apart => None,
        }
    }

    /// A room that the same servers keep as `main`.
    pub(super) fn second_room(&self) -> &str {
        match self {
            Self::Cluster { neighbour, .. } => neighbour,
            _ => "silent",
        }
    }

    /// The servers that may be the master.
    pub(super) fn candidates(&self) -> Vec<usize> {
        match self {
            Self::Standalone(_) => vec![0],
            Self::Sentinel(servers) => (0..servers.count()).collect(),
            Self::Cluster { owners, .. } => owners.to_vec(),
            Self::Apart => Vec::new(),
        }
    }

    /// The server that is the master by common consent, if there is one now.
    pub(super) fn master(&self) -> Option<usize> {
        match self {
            Self::Standalone(_) => Some(0),
            Self::Sentinel(servers) => servers.named_master(),
            Self::Cluster {
                servers,
                slot,
                owners,
                ..
            } => servers.owner_among(owners, *slot),
            Self::Apart => None,
        }
    }

    /// A server that can take over.
    pub(super) fn replica_of(&self, master: usize) -> Option<usize> {
        let candidates = self.candidates();
        let mut others = candidates.into_iter().filter(|&server| server != master);
        others.find(|&server| self.servers().follows(server, master))
    }

    /// Commands that another server take over, and says what was answered. With `to`, only that one may.
    pub(super) fn fail_over(&self, from: usize, to: usize, how: Handover) -> String {
        match self {
            Self::Sentinel(servers) => {
                for server in self.candidates() {
                    let chosen = how == Handover::Any || server == to || server == from;
                    let priority = if chosen { "100" } else { "0" };
                    let command = ["CONFIG", "SET", "replica-priority", priority];
                    servers.ask(server, &command);
                }
                std::thread::sleep(SENTINELS_LOOK);
                servers.sentinel_cli(0, &["SENTINEL", "FAILOVER", servers.name()])
            }
            Self::Cluster { servers, .. } => {
                let command = match how {
                    Handover::Any => &["CLUSTER", "FAILOVER"][..],
                    Handover::Only => &["CLUSTER", "FAILOVER", "FORCE"],
                };
                servers.ask(to, command).unwrap_or_default()
            }
            Self::Standalone(_) | Self::Apart => String::new(),
        }
    }

    /// Every server may be chosen again, and has its memory and its clock.
    pub(super) fn forgive(&self) {
        for server in self.candidates() {
            let servers = self.servers();
            servers.ask(server, &["CONFIG", "SET", "replica-priority", "100"]);
            servers.ask(server, &["CONFIG", "SET", "maxmemory", "0"]);
            servers.shift_clock(server, 0);
        }
    }

    /// Cuts a server off from the others, but from neither Sentinels nor nodes.
    pub(super) fn cut_replication(&self, server: usize) -> Cut {
        let servers = self.servers();
        let others = self.candidates().into_iter().filter(|&it| it != server);
        let others: Vec<_> = others.map(|other| servers.ip(other)).collect();
        Cut::between(&[servers.ip(server)], &others[..])
    }

    /// Cuts the master off together with a node and one Sentinel; a master that nobody can replace, from the node.
    pub(super) fn cut_off(&self, master: usize, node: usize, groups: &[u32]) -> Cut {
        let servers = self.servers();
        let (with, without): (Vec<u32>, Vec<u32>) =
            groups.iter().partition(|&&group| group == groups[node]);
        let mut inside = vec![servers.ip(master)];
        let rest = (0..servers.count()).filter(|&server| server != master);
        let mut outside: Vec<_> = rest.map(|server| servers.ip(server)).collect();
        match self {
            Self::Standalone(_) => return Cut::between(Side::groups(&with), &inside[..]),
            Self::Sentinel(servers) => {
                inside.push(servers.sentinel_ip(node));
                let others = (0..groups.len()).filter(|&sentinel| sentinel != node);
                outside.extend(others.map(|sentinel| servers.sentinel_ip(sentinel)));
            }
            Self::Cluster { .. } | Self::Apart => {}
        }
        Cut::between(
            Side::from(&inside[..]).and_groups(&with),
            Side::from(&outside[..]).and_groups(&without),
        )
    }

    /// Waits until all servers run and replicas follow.
    pub(super) fn wait_whole(&self) {
        match self {
            Self::Sentinel(servers) => servers.wait_whole(),
            Self::Cluster { servers, .. } => servers.wait_whole(),
            Self::Standalone(_) | Self::Apart => {}
        }
    }

    pub(super) fn servers(&self) -> &TestServers {
        match self {
            Self::Standalone(servers) => servers,
            Self::Sentinel(servers) => servers,
            Self::Cluster { servers, .. } => servers,
            Self::Apart => unreachable!("there are no servers"),
        }
    }

    pub(super) fn servers_mut(&mut self) -> &mut TestServers {
        match self {
            Self::Standalone(servers) => servers,
            Self::Sentinel(servers) => servers,
            Self::Cluster { servers, .. } => servers,
            Self::Apart => unreachable!("there are no servers"),
        }
    }
}

/// Sentinels have seen by then which servers may be chosen.
const SENTINELS_LOOK: Duration = Duration::from_millis(700);

/// Who takes over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Handover {
    /// Whoever is fit, in good order.
    Any,
    /// The one that is named, however little it knows.
    Only,
}
