//! What was done to the servers, so that nobody is blamed for it.

use std::{fmt, time::Duration};

use serde::{Serialize, Serializer};

use super::record::{At, seconds};

/// The beginning or the end of something that goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Fault {
    /// When. A beginning is noted before it is brought about, an end after it was.
    #[serde(serialize_with = "seconds")]
    pub at: At,
    /// What it is.
    pub fault: Kind,
    /// Whom it befalls.
    pub target: Target,
    /// Which of the two.
    pub turn: Turn,
}

/// What goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// `kill -9`; it ends when the server is ready again.
    Killed,
    /// `SIGSTOP`; it ends with `SIGCONT`.
    Stopped,
    /// What was acknowledged last may be forgotten, as when a replica takes over that lags behind; it ends when there is
    /// a server again that goes on.
    Forgot,
    /// Everything may be forgotten, however old it is; it ends when the server is ready again.
    Emptied,
    /// Nobody who matters is reached, and nobody reaches it.
    CutOff,
    /// The store's clock jumps ahead, and passes may end sooner.
    ClockAhead,
    /// Nobody is let in for a reason of the room's own, as while lost places are awaited.
    Held,
}

impl Kind {
    /// Whether a store forgets by it.
    pub fn forgets(self) -> bool {
        matches!(self, Self::Forgot | Self::Emptied)
    }
}

/// Whom it befalls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// One of the nodes.
    Node(usize),
    /// What they keep the line in. A node with the line in its own files is both.
    Store,
}

/// The beginning or the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the words say it")]
pub enum Turn {
    On,
    Off,
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Node(node) => write!(f, "node {node}"),
            Self::Store => f.write_str("store"),
        }
    }
}

impl Serialize for Target {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A fault from its beginning to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outage {
    /// What it was.
    pub kind: Kind,
    /// Whom it befell.
    pub target: Target,
    /// When it began.
    pub from: At,
    /// When it was over; never, if nobody noted that.
    pub to: At,
}

impl Outage {
    /// Faults as a list of beginnings and ends, in the order in which they began.
    pub fn of(faults: &[Fault]) -> Vec<Self> {
        let mut outages: Vec<Self> = Vec::new();
        for fault in faults {
            let same = |outage: &&mut Self| {
                (outage.kind, outage.target, outage.to)
                    == (fault.fault, fault.target, Duration::MAX)
            };
            match fault.turn {
                Turn::On => outages.push(Self {
                    kind: fault.fault,
                    target: fault.target,
                    from: fault.at,
                    to: Duration::MAX,
                }),
                Turn::Off => {
                    if let Some(open) = outages.iter_mut().find(same) {
                        open.to = fault.at;
                    }
                }
            }
        }
        outages
    }

    /// Whether some of it lies between two moments.
    pub fn touches(&self, from: At, to: At) -> bool {
        self.from <= to && from <= self.to
    }
}
