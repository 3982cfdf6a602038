//! What happens in a history. It is plain data, so that it can be replayed with parts left out.

use std::fmt;

/// Nodes of a fleet.
pub const NODES: usize = 3;
/// Store servers of a fleet.
pub const SERVERS: usize = 3;

/// Milliseconds, mostly since a history began.
pub type Millis = u64;

/// A whole history, before it is played.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule {
    /// Also decides how far apart the nodes' own looks at the store are.
    pub seed: u64,
    /// In the order of time.
    pub steps: Vec<Step>,
}

/// Something that happens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// When.
    pub at: Millis,
    /// What.
    pub event: Event,
}

/// What visitors, operators and bad luck do. Visitors, nodes and servers go by their numbers, so
/// that an event means the same whatever else is left out; one that no longer makes sense does
/// nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// A visitor without a token asks for a place. The node has the store's answer at once and
    /// passes it on later.
    Join {
        /// Who.
        visitor: usize,
        /// Where.
        node: usize,
        /// How much later.
        answer_delay: Millis,
    },
    /// A visitor asks where it stands, and returns the highest version that it has seen.
    Poll {
        /// Who.
        visitor: usize,
        /// Where.
        node: usize,
    },
    /// A visitor gives up its place or its pass.
    Leave {
        /// Who.
        visitor: usize,
        /// Where.
        node: usize,
    },
    /// A visitor uses its pass at the gate.
    Enter {
        /// Who.
        visitor: usize,
        /// Where.
        node: usize,
    },
    /// An operator deletes the room.
    Delete {
        /// Where.
        node: usize,
    },
    /// An operator creates the room, if it was deleted.
    Create {
        /// Where.
        node: usize,
    },
    /// Something goes wrong.
    Fault(Fault),
}

/// Something that goes wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// The Sentinels name another master.
    Failover {
        /// Which: a replica, or a master of earlier that has not followed since.
        to: usize,
        /// How far behind it is, if it is a replica.
        lag: Millis,
        /// What becomes of the master so far.
        old: OldMaster,
    },
    /// A server restarts, with another run id.
    Restart {
        /// Which.
        server: usize,
        /// With what.
        disk: ServerDisk,
        /// For how long it is down.
        down: Millis,
    },
    /// `FLUSHALL` on the master.
    Flush,
    /// A node is killed.
    Crash {
        /// Which.
        node: usize,
        /// What becomes of its record.
        disk: NodeDisk,
    },
    /// A node that was killed starts again.
    Start {
        /// Which.
        node: usize,
    },
    /// A node is stopped for a while (`SIGSTOP`).
    Stop {
        /// Which.
        node: usize,
        /// For how long.
        lasts: Millis,
    },
    /// A node reaches neither servers nor Sentinels.
    Isolate {
        /// Which.
        node: usize,
        /// For how long.
        lasts: Millis,
    },
    /// No Sentinel answers.
    SentinelsDown {
        /// For how long.
        lasts: Millis,
    },
}

/// What becomes of a master when another one is named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OldMaster {
    /// It died, and comes back as a replica.
    Dies,
    /// It goes on as a master until the Sentinels have made it a replica: an operator's failover.
    KeepsWriting {
        /// For how long.
        lasts: Millis,
    },
    /// It is cut off, some nodes with it, and all of them go on until the network is whole.
    CutOff {
        /// Which nodes.
        with: [bool; NODES],
        /// For how long.
        lasts: Millis,
    },
}

/// What a restarted server begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerDisk {
    /// Nothing.
    Empty,
    /// What it had this long before.
    Older(Millis),
}

/// What becomes of a node's record when it is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodeDisk {
    /// It is there at the next start.
    Kept,
    /// It cannot be read.
    Damaged,
    /// It is gone.
    Lost,
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Join {
                visitor,
                node,
                answer_delay: 0,
            } => write!(f, "v{visitor} joins at node {node}"),
            Self::Join {
                visitor,
                node,
                answer_delay,
            } => {
                let slow = format_args!("whose answer takes {answer_delay} ms");
                write!(f, "v{visitor} joins at node {node}, {slow}")
            }
            Self::Poll { visitor, node } => write!(f, "v{visitor} polls node {node}"),
            Self::Leave { visitor, node } => write!(f, "v{visitor} leaves at node {node}"),
            Self::Enter { visitor, node } => write!(f, "v{visitor} is at the gate of node {node}"),
            Self::Delete { node } => write!(f, "an operator deletes the room at node {node}"),
            Self::Create { node } => write!(f, "an operator creates the room at node {node}"),
            Self::Fault(fault) => write!(f, "FAULT: {fault}"),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failover { to, lag, old } => {
                write!(f, "failover to s{to} ({lag} ms behind if a replica); {old}")
            }
            Self::Restart {
                server,
                disk: ServerDisk::Empty,
                down,
            } => write!(f, "s{server} restarts empty, down for {down} ms"),
            Self::Restart {
                server,
                disk: ServerDisk::Older(age),
                down,
            } => {
                let file = format_args!("from a file {age} ms old");
                write!(f, "s{server} restarts {file}, down for {down} ms")
            }
            Self::Flush => f.write_str("FLUSHALL on the master"),
            Self::Crash { node, disk } => {
                let record = match disk {
                    NodeDisk::Kept => "",
                    NodeDisk::Damaged => ", and its record cannot be read",
                    NodeDisk::Lost => " and loses its disk",
                };
                write!(f, "node {node} is killed{record}")
            }
            Self::Start { node } => write!(f, "node {node} starts"),
            Self::Stop { node, lasts } => write!(f, "node {node} is stopped for {lasts} ms"),
            Self::Isolate { node, lasts } => {
                write!(f, "node {node} reaches nobody for {lasts} ms")
            }
            Self::SentinelsDown { lasts } => write!(f, "no Sentinel answers for {lasts} ms"),
        }
    }
}

impl fmt::Display for OldMaster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dies => f.write_str("the old master dies"),
            Self::KeepsWriting { lasts } => {
                write!(f, "the old master goes on for {lasts} ms")
            }
            Self::CutOff { with, lasts } => {
                let nodes: Vec<_> = (0..NODES).filter(|node| with[*node]).collect();
                write!(
                    f,
                    "the old master is cut off with nodes {nodes:?} for {lasts} ms"
                )
            }
        }
    }
}
