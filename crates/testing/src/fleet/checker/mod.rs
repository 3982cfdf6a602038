//! The promises, checked while a history runs.
//!
//! The checker knows what visitors were shown and sees every call to a server. It does not look
//! into the nodes: what a node ought to know is what servers have shown it, in this life or, by its
//! record, in the one before.

mod cap;
mod excuse;
mod finally;
mod knowledge;
mod order;
mod places;
mod promise;
mod retold;

use std::collections::{BTreeMap, BTreeSet};

use ropeline_core::{Holder, Ordinal, Room, Standing, Timestamp, UserId, Visitor};

pub use excuse::{Excuse, Excuses};
pub use promise::{Promise, Violation};

use self::knowledge::{Knower, Lives};
use super::{
    network::{Before, Called, clock},
    schedule::{Millis, SERVERS},
    timeline::Timeline,
};

/// A node that reaches the master for this long has merged what it knows.
const CHANCE: Millis = 500;
/// Lost places are waited for a minute of room time, which may catch up a little in a merge.
const GRACE: Millis = 59_000;
/// Acknowledged joins are sent again for this long.
const RETOLD: Millis = 10_000;
/// After a failover, gates may go by the old master for this long.
const LEASE: Millis = 2_000;

/// A place in somebody's hands.
#[derive(Debug)]
pub(super) struct Token {
    pub(super) holder: Holder,
    pub(super) epoch: Timestamp,
    acknowledged_at: Millis,
    /// When its holder was shown that it has ended.
    ended_at: Option<Millis>,
    asked_to_leave: bool,
    /// It was lost for its whole grace and then overtaken, as is promised.
    missed_turn: bool,
    /// An excuse was made for it, after which nothing is certain.
    written_off: bool,
    /// The lowest `ahead` that its holder was shown.
    ahead: Option<u64>,
    ending_known_by: Vec<Knower>,
    /// Nodes that acknowledged it or put it back.
    vouched_by: Vec<Knower>,
    /// When the master was last known to have it.
    had_at: Millis,
    /// Since when the master lacks it.
    missing_since: Option<Millis>,
}

/// When a server gave an ordinal.
#[derive(Debug, Clone, Copy)]
struct Issue {
    server: usize,
    at: Millis,
    epoch: Timestamp,
    /// The first merge after the last loss there.
    merged_at: Millis,
}

#[derive(Debug)]
pub(super) struct Checker {
    watched: Vec<Promise>,
    cap: usize,
    visitors: Vec<Visitor>,
    tokens: BTreeMap<usize, Token>,
    first_asked: BTreeMap<usize, Millis>,
    issues: BTreeMap<(usize, Ordinal), Issue>,
    /// Who was ever let in, and with which place.
    admitted: BTreeSet<(usize, Ordinal)>,
    /// Epochs that an operator has ended.
    deleted: Vec<Timestamp>,
    lives: Lives,
    /// The server that was last named.
    master: usize,
    /// When each server last lost something, or took over.
    lost_at: [Millis; SERVERS],
    /// The first merge after that.
    merged_at: [Option<Millis>; SERVERS],
    /// When a server was last given another name.
    renamed_at: Millis,
    /// Whether somebody was let in since the cap was last checked.
    pub(super) cap_is_due: bool,
    pub(super) broken: Option<Violation>,
    pub(super) excuses: Excuses,
}

impl Checker {
    pub(super) fn new(watched: &[Promise], cap: usize, visitors: usize) -> Self {
        Self {
            watched: watched.to_vec(),
            cap,
            visitors: (0..visitors).map(visitor).collect(),
            tokens: BTreeMap::new(),
            first_asked: BTreeMap::new(),
            issues: BTreeMap::new(),
            admitted: BTreeSet::new(),
            deleted: Vec::new(),
            lives: Lives::default(),
            master: 0,
            lost_at: [0; SERVERS],
            merged_at: [None; SERVERS],
            renamed_at: 0,
            cap_is_due: false,
            broken: None,
            excuses: Excuses::default(),
        }
    }

    pub(super) fn lives(&mut self) -> &mut Lives {
        &mut self.lives
    }

    pub(super) fn visitor(&self, number: usize) -> &Visitor {
        &self.visitors[number]
    }

    /// A node has called a server, which now keeps this room.
    pub(super) fn called(
        &mut self,
        called: Called,
        before: Option<&Before>,
        room: Option<&Room>,
        timeline: &mut Timeline,
    ) {
        let Some(room) = room else {
            return;
        };
        let header = room.header();
        if before.is_none_or(|before| before.name != header.server) {
            self.renamed(called, room, timeline);
        }
        self.learn(called, room);
        if let Some(before) = before {
            self.note_issued(called, before, room);
        }
        if before.is_some_and(|before| before.admitted < header.counters.admitted) {
            self.note_admitted(called, room, timeline);
        }
    }

    fn renamed(&mut self, called: Called, room: &Room, timeline: &mut Timeline) {
        self.merged_at[called.server].get_or_insert(called.now);
        self.renamed_at = called.now;
        timeline.say(called.now, || {
            let header = room.header();
            let (name, issued) = (&header.server.0, header.issued);
            format!(
                "  node {} renames the room {name}, {issued} issued",
                called.node
            )
        });
    }

    /// Since when a node that knows more could have merged.
    fn merged_since(&self, server: usize) -> Millis {
        self.merged_at[server].unwrap_or(self.lost_at[server])
    }

    fn note_issued(&mut self, called: Called, before: &Before, room: &Room) {
        let (first, last) = (before.issued.0 + 1, room.header().issued.0);
        if first != last {
            return;
        }
        let issued = Ordinal(last);
        let place = room.saved_place(issued);
        if let Some(visitor) = place.and_then(|(name, _)| number(name)) {
            let issue = Issue {
                server: called.server,
                at: called.now,
                epoch: room.header().epoch,
                merged_at: self.merged_since(called.server),
            };
            self.issues.insert((visitor, issued), issue);
        }
    }

    /// The master has lost something, or another server has taken its place.
    pub(super) fn lost(
        &mut self,
        server: usize,
        now: Millis,
        had: Option<&Room>,
        has: Option<&Room>,
    ) {
        self.check_retold(had, now);
        self.master = server;
        self.lost_at[server] = now;
        self.merged_at[server] = None;
        for token in self.tokens.values_mut() {
            if had.is_some_and(|room| has_place(room, &token.holder)) {
                token.had_at = now;
            }
            let missing = !has.is_some_and(|room| has_place(room, &token.holder));
            token.missing_since = missing.then_some(now);
        }
    }

    /// A server that is not the master has forgotten something.
    pub(super) fn lost_aside(&mut self, server: usize, now: Millis) {
        self.lost_at[server] = now;
        self.merged_at[server] = None;
    }

    /// When a server last lost something, or took over.
    fn last_loss(&self) -> Millis {
        self.lost_at.iter().max().copied().unwrap_or_default()
    }

    fn break_promise(&mut self, promise: Promise, seen: String) {
        if self.watched.contains(&promise) {
            self.broken.get_or_insert(Violation { promise, seen });
        }
    }
}

/// How many rooms of this name were deleted before that epoch began.
fn line_of(deleted: &[Timestamp], epoch: Timestamp) -> usize {
    deleted.iter().filter(|deleted| **deleted < epoch).count()
}

fn visitor(number: usize) -> Visitor {
    let user = UserId::parse(&format!("v{number}")).expect("a valid user id");
    Visitor::stated(&user)
}

/// The number of a visitor by the name that a room has.
fn number(name: &str) -> Option<usize> {
    name.strip_prefix("u:v")?.parse().ok()
}

fn has_place(room: &Room, holder: &Holder) -> bool {
    room.find(&holder.visitor) == Some(holder.ordinal)
}

/// Whether a place has ended, and not only was given to somebody else.
fn has_ended(room: &Room, holder: &Holder, now: Millis) -> bool {
    let ran_out = || {
        let standing = room.standing(holder, clock(now));
        has_place(room, holder) && matches!(standing, Standing::Ended(_))
    };
    is_noted_as_ended(room, holder.ordinal) || ran_out()
}

fn is_noted_as_ended(room: &Room, ordinal: Ordinal) -> bool {
    let header = room.header();
    let forgotten = ordinal <= header.floor || ordinal <= header.base;
    forgotten || room.gone().contains(ordinal.0) || room.done().contains(ordinal.0)
}
