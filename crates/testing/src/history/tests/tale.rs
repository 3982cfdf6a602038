//! Histories by hand. Times are milliseconds.

use std::{collections::BTreeMap, ops::Range, time::Duration};

use ropeline_core::{Identity, Policy};

use crate::history::{
    Counts, Fault, History, Kind, Moments, Op, Outcome, Record, State, Target, Told, Turn,
};

/// A history in the making.
pub(super) struct Tale {
    history: History,
    /// The highest version that each user has seen.
    versions: BTreeMap<String, u64>,
    version: u64,
    /// Whom everybody asks.
    node: usize,
}

/// A place that waits.
pub(super) fn waiting(ordinal: u64, position: u64) -> Told {
    Told {
        ordinal: Some(ordinal),
        position: Some(position),
        ..Told::only(State::Waiting)
    }
}

/// A place that was let in at a moment.
pub(super) fn inside(ordinal: u64, admitted_at: u64) -> Told {
    Told {
        ordinal: Some(ordinal),
        position: Some(0),
        admitted_at: Some(Duration::from_millis(admitted_at)),
        ..Told::only(State::Inside)
    }
}

/// Nothing but where the place is, as the gate tells, and who asks in vain.
pub(super) fn only(state: State) -> Told {
    Told::only(state)
}

impl Told {
    /// As an older picture shows it.
    pub(super) fn pictured_at(mut self, at: u64) -> Self {
        self.as_of = Some(Duration::from_millis(at));
        self
    }

    pub(super) fn at_version(mut self, version: u64) -> Self {
        self.version = Some(version);
        self
    }
}

impl Tale {
    fn new(change: impl FnOnce(&mut Policy)) -> Self {
        let mut policy = Policy {
            every: Duration::from_secs(3600),
            batch: None,
            active_max: None,
            pass_ttl: Duration::from_secs(10),
            pass_max: Duration::ZERO,
            presence_ttl: Duration::ZERO,
            missed_turn_ttl: Duration::from_secs(5),
            waiting_max: 1_000,
            identity: Identity::Open,
        };
        change(&mut policy);
        let history = History {
            policy: policy.validated().expect("a policy"),
            moments: Moments::Exact,
            records: Vec::new(),
            faults: Vec::new(),
            drained_at: None,
        };
        Self {
            history,
            versions: BTreeMap::new(),
            version: 0,
            node: 0,
        }
    }

    /// A theme park.
    pub(super) fn park(batch: u64, every: u64) -> Self {
        Self::new(|policy| {
            policy.batch = Some(batch);
            policy.every = Duration::from_millis(every);
        })
    }

    /// A bank counter.
    pub(super) fn bank(active_max: u64) -> Self {
        Self::new(|policy| policy.active_max = Some(active_max))
    }

    /// Where who is not heard of for ten seconds is stepped over.
    pub(super) fn with_presence(mut self) -> Self {
        self.history.policy.presence_ttl = Duration::from_secs(10);
        self
    }

    /// Where no pass runs out.
    pub(super) fn with_long_passes(mut self) -> Self {
        self.history.policy.pass_ttl = Duration::from_secs(3_600);
        self
    }

    /// From here on everybody asks this node.
    pub(super) fn via(mut self, node: usize) -> Self {
        self.node = node;
        self
    }

    /// At the end everybody was asked for since this moment.
    pub(super) fn drained_at(mut self, at: u64) -> Self {
        self.history.drained_at = Some(Duration::from_millis(at));
        self
    }

    pub(super) fn joined(self, user: &str, at: Range<u64>, told: Told) -> Self {
        self.answered(Op::Join, user, None, at, told)
    }

    pub(super) fn polled(self, user: &str, at: Range<u64>, told: Told) -> Self {
        let holds = self.holds(user);
        self.answered(Op::Poll, user, holds, at, told)
    }

    pub(super) fn at_gate(self, user: &str, at: Range<u64>, told: Told) -> Self {
        let holds = self.holds(user);
        self.answered(Op::Gate, user, holds, at, told)
    }

    pub(super) fn left(self, user: &str, at: Range<u64>) -> Self {
        let holds = self.holds(user);
        self.answered(Op::Leave, user, holds, at, only(State::Gone))
    }

    /// An operator asks for a user.
    pub(super) fn found(self, user: &str, at: Range<u64>, told: Told) -> Self {
        let holds = self.holds(user);
        self.answered(Op::Find, user, holds, at, told)
    }

    /// Asked, and never answered.
    pub(super) fn lost(mut self, op: Op, user: &str, at: Range<u64>) -> Self {
        let holds = self.holds(user).filter(|_| op != Op::Join);
        self.push(op, user, holds, at);
        self
    }

    /// Asked, and refused.
    pub(super) fn refused(mut self, op: Op, user: &str, at: Range<u64>, status: u16) -> Self {
        let holds = self.holds(user).filter(|_| op != Op::Join);
        let record = self.push(op, user, holds, at);
        record.outcome = Outcome::Fail;
        record.status = Some(status);
        self
    }

    pub(super) fn audited(mut self, at: Range<u64>, counts: Counts) -> Self {
        let record = self.push(Op::Audit, "operator", None, at);
        record.outcome = Outcome::Ok;
        record.counts = Some(counts);
        self
    }

    pub(super) fn killed(self, node: usize, at: Range<u64>) -> Self {
        self.suffered(Kind::Killed, Target::Node(node), at)
    }

    pub(super) fn suffered(mut self, fault: Kind, target: Target, during: Range<u64>) -> Self {
        for (at, turn) in [(during.start, Turn::On), (during.end, Turn::Off)] {
            let at = Duration::from_millis(at);
            self.history.faults.push(Fault {
                at,
                fault,
                target,
                turn,
            });
        }
        self
    }

    /// The whole of it, in order.
    pub(super) fn end(self) -> History {
        let mut history = self.history;
        history.records.sort_by_key(|record| record.t0);
        for (id, record) in history.records.iter_mut().enumerate() {
            record.id = id;
        }
        history.faults.sort_by_key(|fault| fault.at);
        history
    }

    fn answered(
        mut self,
        op: Op,
        user: &str,
        holds: Option<u64>,
        at: Range<u64>,
        mut told: Told,
    ) -> Self {
        self.version += 1;
        // The gate tells none.
        if told.position.is_some() {
            told.version = told.version.or(Some(self.version));
        }
        let seen = told.version;
        let record = self.push(op, user, holds, at);
        record.outcome = Outcome::Ok;
        record.told = Some(told);
        let highest = self.versions.entry(user.to_owned()).or_default();
        *highest = seen.unwrap_or_default().max(*highest);
        self
    }

    fn push(&mut self, op: Op, user: &str, holds: Option<u64>, at: Range<u64>) -> &mut Record {
        let returned = self.versions.get(user).copied();
        self.history.records.push(Record {
            id: 0,
            client: 0,
            node: self.node,
            op,
            user: user.to_owned(),
            holds,
            returned: returned.filter(|_| op != Op::Join),
            t0: Duration::from_millis(at.start),
            t1: Duration::from_millis(at.end),
            outcome: Outcome::Unknown,
            status: None,
            code: None,
            told: None,
            counts: None,
        });
        self.history.records.last_mut().expect("just pushed")
    }

    /// The place that a user was last answered with.
    fn holds(&self, user: &str) -> Option<u64> {
        let records = self.history.records.iter().rev();
        let mut joins = records.filter(|record| record.op == Op::Join && record.user == user);
        joins.find_map(|record| record.told.as_ref()?.ordinal)
    }
}
