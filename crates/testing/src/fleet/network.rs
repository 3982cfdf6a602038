//! Servers, Sentinels and who reaches whom. Every call to a server goes through here, and the
//! checker sees it.

use ropeline_core::{Holder, Ordinal, Room, ServerId, Timestamp};

use super::{
    checker::Checker,
    schedule::{Millis, NODES, SERVERS},
    server::{Role, Server},
    timeline::Timeline,
};
use crate::line::START;

/// What the Sentinels say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Named {
    /// Who is master.
    pub(super) server: usize,
    /// Grows with every failover.
    pub(super) term: u64,
}

/// The part of the network that a node reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Link {
    Whole,
    /// Only this server, and too few Sentinels.
    With(usize),
    Nobody,
}

#[derive(Debug)]
pub(super) struct Network {
    pub(super) now: Millis,
    pub(super) servers: [Server; SERVERS],
    pub(super) named: Named,
    pub(super) sentinels_down_until: Millis,
    /// How far each node reaches, and until when.
    pub(super) links: [(Link, Millis); NODES],
    pub(super) checker: Checker,
    pub(super) timeline: Timeline,
}

/// A room before a call, as far as the checker compares.
#[derive(Debug)]
pub(super) struct Before {
    pub(super) name: ServerId,
    pub(super) admitted: u64,
    pub(super) issued: Ordinal,
}

/// Who called where.
#[derive(Debug, Clone, Copy)]
pub(super) struct Called {
    pub(super) node: usize,
    pub(super) server: usize,
    /// Whether the Sentinels have named that server.
    pub(super) is_named: bool,
    pub(super) now: Millis,
}

impl Network {
    pub(super) fn new(checker: Checker, timeline: Timeline) -> Self {
        let role = |number| match number {
            0 => Role::Master { until: None },
            _ => Role::Replica(0),
        };
        Self {
            now: 0,
            servers: std::array::from_fn(|number| Server::new(number, role(number))),
            named: Named { server: 0, term: 1 },
            sentinels_down_until: 0,
            links: [(Link::Whole, 0); NODES],
            checker,
            timeline,
        }
    }

    /// How far a node reaches now.
    pub(super) fn link(&self, node: usize) -> Link {
        let (link, until) = self.links[node];
        if self.now < until { link } else { Link::Whole }
    }

    /// The answer of most Sentinels.
    pub(super) fn ask_sentinels(&self, node: usize) -> Option<Named> {
        let whole = self.link(node) == Link::Whole;
        (whole && self.now >= self.sentinels_down_until).then_some(self.named)
    }

    /// Whether a node can call a server, and is not refused by a replica.
    pub(super) fn reaches(&self, node: usize, server: usize) -> bool {
        let linked = match self.link(node) {
            Link::Whole => !self.is_cut_off(server),
            Link::With(only) => only == server,
            Link::Nobody => false,
        };
        let it = &self.servers[server];
        linked && self.now >= it.down_until && matches!(it.role, Role::Master { .. })
    }

    /// Whether a server is on the smaller side of a network in two parts.
    pub(super) fn is_cut_off(&self, server: usize) -> bool {
        (0..NODES).any(|node| self.link(node) == Link::With(server))
    }

    /// Whether the master has a place.
    pub(super) fn master_has(&self, holder: &Holder) -> bool {
        let master = self.servers[self.named.server].room();
        let place = master.and_then(|room| room.find(&holder.visitor));
        place == Some(holder.ordinal)
    }

    /// Lets a node act on a server; `None` if it cannot.
    pub(super) fn call<T>(
        &mut self,
        node: usize,
        server: usize,
        act: impl FnOnce(&mut Server, Millis) -> T,
    ) -> Option<T> {
        if !self.reaches(node, server) {
            return None;
        }
        let called = Called {
            node,
            server,
            is_named: self.named.server == server,
            now: self.now,
        };
        let it = &mut self.servers[server];
        let before = it.room().map(Before::of);
        let answer = act(it, self.now);
        self.checker
            .called(called, before.as_ref(), it.room(), &mut self.timeline);
        Some(answer)
    }
}

impl Before {
    fn of(room: &Room) -> Self {
        let header = room.header();
        Self {
            name: header.server.clone(),
            admitted: header.counters.admitted,
            issued: header.issued,
        }
    }
}

/// The time of day at a moment of a history.
pub(super) fn clock(now: Millis) -> Timestamp {
    Timestamp(START.0 + now)
}
