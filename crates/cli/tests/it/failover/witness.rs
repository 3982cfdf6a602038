//! Whoever brings a fault about tells all records of it.

use std::{thread, time::Duration};

use ropeline_testing::history::{Kind, Recorder, Target, Turn};

use crate::nodes::cluster::Cluster;

/// After a new master was named, nodes have found it by then and the line moves again.
const FOUND_AGAIN: Duration = Duration::from_secs(2);

/// The records of a run.
pub(crate) struct Witness<'a> {
    /// Of the room with the crowd.
    pub(crate) crowd: &'a Recorder,
    /// Of the rooms with those who never ask.
    pub(crate) silent: Vec<&'a Recorder>,
    pub(crate) nodes: &'a Cluster,
    /// The Unix group of each node.
    pub(crate) groups: &'a [u32],
}

impl Witness<'_> {
    /// Another server takes over without what the last one did not pass on. Whoever was inside may be back at the door,
    /// and nodes may know of places that were never acknowledged, which the line then waits for. But an acknowledged
    /// place is not forgotten.
    pub(crate) fn replaced(&self, how: impl FnOnce()) {
        self.crowd.fault(Kind::Held, Target::Store, Turn::On);
        self.interrupted(|| {
            self.crowd.fault(Kind::Forgot, Target::Store, Turn::On);
            how();
            self.crowd.fault(Kind::Forgot, Target::Store, Turn::Off);
        });
    }

    /// A node reaches nobody but the server that is replaced meanwhile.
    pub(crate) fn cut_off(&self, node: usize, how: impl FnOnce()) {
        let node = Target::Node(node);
        self.crowd.fault(Kind::CutOff, node, Turn::On);
        how();
        self.crowd.fault(Kind::CutOff, node, Turn::Off);
    }

    /// The store is away for a moment, and nothing at all is forgotten.
    pub(crate) fn interrupted(&self, how: impl FnOnce()) {
        self.crowd.fault(Kind::Stopped, Target::Store, Turn::On);
        self.unnoticed(|| {
            how();
            thread::sleep(FOUND_AGAIN);
        });
        self.crowd.fault(Kind::Stopped, Target::Store, Turn::Off);
    }

    /// Something happens that nobody in line may notice.
    pub(crate) fn unnoticed(&self, how: impl FnOnce()) {
        self.tell_silent(Turn::On);
        how();
        self.tell_silent(Turn::Off);
    }

    /// To those who are never let in nothing may be forgotten, whatever happens.
    fn tell_silent(&self, turn: Turn) {
        for recorder in &self.silent {
            recorder.fault(Kind::Stopped, Target::Store, turn);
        }
    }
}
