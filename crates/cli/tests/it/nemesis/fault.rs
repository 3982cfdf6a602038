//! The faults there are.

use std::{fmt, ops::RangeInclusive};

use super::{NODES, dice::Dice};

/// Where the line is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Topology {
    /// One Redis server.
    Standalone,
    /// A master, two replicas and three Sentinels.
    Sentinel,
    /// Three masters with a replica each.
    Cluster,
    /// Each node keeps a line of its own, which no rule forgives.
    Apart,
}

/// What goes wrong, and with whom. The master of a Cluster is the server that owns the rooms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// `kill -9`, and a start with what was written down.
    KillMaster,
    /// `kill -9`, and a start with nothing.
    EmptyMaster,
    FreezeMaster,
    FlushAll,
    FlushFunctions,
    /// An operator's command.
    FailOver,
    /// An operator's command, and another one that goes back, while nothing reaches the first master.
    FailOverAndBack,
    /// A node is cut off, with the master and one Sentinel where others can take over.
    Partition {
        node: usize,
    },
    OutOfMemory,
    /// The master's wall clock jumps, and jumps back.
    MoveClock {
        seconds: i64,
    },
    KillNode {
        node: usize,
    },
    /// `kill -9`, and a start with an empty data directory.
    LoseNode {
        node: usize,
    },
    FreezeNode {
        node: usize,
    },
    /// All nodes but one.
    FreezeOthers {
        node: usize,
    },
    /// `kill -9` of the master and of a node, and a start of both: they are on one machine.
    Reboot {
        node: usize,
    },
}

/// What a fault needs for itself: two that need the same do not overlap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    MasterProcess,
    Network,
    Memory,
    Clock,
    Node(usize),
}

/// How far clocks jump.
const JUMPS: [i64; 6] = [-3_600, -30, -5, 5, 30, 3_600];

impl Fault {
    /// Any fault that can happen there.
    pub(super) fn draw(dice: &mut Dice, topology: Topology) -> Self {
        let last = NODES as u64 - 1;
        let node = usize::try_from(dice.roll(0..=last)).expect("an index");
        let seconds = dice.pick(&JUMPS);
        let nodes = [
            Self::KillNode { node },
            Self::KillNode { node },
            Self::FreezeNode { node },
        ];
        let servers = [
            Self::LoseNode { node },
            Self::FreezeOthers { node },
            Self::Reboot { node },
            Self::KillMaster,
            Self::EmptyMaster,
            Self::EmptyMaster,
            Self::FreezeMaster,
            Self::FlushAll,
            Self::FlushFunctions,
            Self::OutOfMemory,
            Self::MoveClock { seconds },
            Self::Partition { node },
        ];
        let replicas = [
            Self::FailOver,
            Self::FailOver,
            Self::FailOverAndBack,
            Self::FailOverAndBack,
            Self::Partition { node },
        ];
        let all = match topology {
            Topology::Apart => nodes.to_vec(),
            Topology::Standalone => [&nodes[..], &servers].concat(),
            Topology::Sentinel | Topology::Cluster => [&nodes[..], &servers, &replicas].concat(),
        };
        dice.pick(&all)
    }

    /// For how many milliseconds it lasts.
    pub(super) fn lasts_ms(self) -> RangeInclusive<u64> {
        match self {
            Self::FlushAll | Self::FlushFunctions | Self::FailOver => 0..=0,
            Self::EmptyMaster => 50..=3_000,
            Self::KillMaster
            | Self::KillNode { .. }
            | Self::LoseNode { .. }
            | Self::Reboot { .. } => 50..=4_000,
            Self::OutOfMemory | Self::FailOverAndBack => 500..=3_000,
            Self::FreezeMaster
            | Self::FreezeNode { .. }
            | Self::FreezeOthers { .. }
            | Self::MoveClock { .. } => 500..=5_000,
            Self::Partition { .. } => 3_000..=9_000,
        }
    }

    /// What it needs for itself.
    pub(super) fn parts(self) -> Vec<Part> {
        match self {
            Self::KillMaster | Self::EmptyMaster | Self::FreezeMaster => vec![Part::MasterProcess],
            Self::FailOverAndBack | Self::Partition { .. } => vec![Part::Network],
            Self::OutOfMemory => vec![Part::Memory],
            Self::MoveClock { .. } => vec![Part::Clock],
            Self::KillNode { node } | Self::LoseNode { node } | Self::FreezeNode { node } => {
                vec![Part::Node(node)]
            }
            Self::FreezeOthers { node } => others(node).map(Part::Node).collect(),
            Self::Reboot { node } => vec![Part::MasterProcess, Part::Node(node)],
            Self::FlushAll | Self::FlushFunctions | Self::FailOver => Vec::new(),
        }
    }
}

/// All nodes but one.
pub(super) fn others(node: usize) -> impl Iterator<Item = usize> {
    (0..NODES).filter(move |&other| other != node)
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::KillMaster => f.write_str("kill -9 of the master"),
            Self::EmptyMaster => f.write_str("kill -9 of the master, which starts empty"),
            Self::FreezeMaster => f.write_str("SIGSTOP of the master"),
            Self::FlushAll => f.write_str("FLUSHALL"),
            Self::FlushFunctions => f.write_str("FUNCTION FLUSH"),
            Self::FailOver => f.write_str("failover by an operator"),
            Self::FailOverAndBack => {
                f.write_str("failover and back to a master that never followed")
            }
            Self::Partition { node } => write!(f, "node {node} cut off with the master"),
            Self::OutOfMemory => f.write_str("out of memory"),
            Self::MoveClock { seconds } => write!(f, "clock of the master moved by {seconds} s"),
            Self::KillNode { node } => write!(f, "kill -9 of node {node}"),
            Self::LoseNode { node } => write!(f, "kill -9 of node {node}, which loses its data"),
            Self::FreezeNode { node } => write!(f, "SIGSTOP of node {node}"),
            Self::FreezeOthers { node } => write!(f, "SIGSTOP of all nodes but {node}"),
            Self::Reboot { node } => write!(f, "kill -9 of the master and node {node}"),
        }
    }
}

impl fmt::Display for Topology {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Standalone => "standalone",
            Self::Sentinel => "sentinel",
            Self::Cluster => "cluster",
            Self::Apart => "apart",
        })
    }
}
