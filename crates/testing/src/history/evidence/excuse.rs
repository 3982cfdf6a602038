//! What may be forgotten for good, because nobody who knew it could tell the store.

use std::{collections::BTreeMap, time::Duration};

use super::{Evidence, Spans, Story};
use crate::history::{
    fault::{Kind, Outage, Target},
    record::{At, Outcome, Record},
};

/// Nodes find a store that is back, and tell it what they know, within this.
const FOUND: Duration = Duration::from_secs(1);
/// Joins wait for so long after a store was told.
const HOLD: Duration = Duration::from_secs(1);
/// Nodes tell a store again whom they have acknowledged in the last ten seconds; it may take them a while to find it.
const TOLD_AGAIN: Duration = Duration::from_secs(8);
/// For how long a master that was replaced may go on.
const LEASE: Duration = Duration::from_secs(2);
/// What one node has done all know by then.
const SPREAD: Duration = Duration::from_secs(1);
/// What a node knows is on its disk by then.
const RECORDED: Duration = Duration::from_millis(1_500);

/// Nodes, each with the moment since which it knows something.
pub(in crate::history) type Knowing = BTreeMap<usize, At>;

/// Where nodes keep what they know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::history) enum Known {
    /// It is written down: how far ordinals and admissions have come.
    OnDisk,
    /// It is not: who has left or is done.
    InMemory,
}

impl Evidence<'_> {
    /// The times at which a store forgets.
    pub(in crate::history) fn forgettings(&self) -> impl Iterator<Item = &Outage> {
        let of_store = |outage: &&Outage| outage.target == Target::Store;
        let outages = self.outages.iter().filter(of_store);
        outages.filter(|outage| outage.kind.forgets())
    }

    /// From one forgetting to the next, without the times in which a master that was replaced may show a line of its own.
    pub(in crate::history) fn memories_of_one_master(
        &self,
    ) -> impl Iterator<Item = (At, At)> + use<> {
        let forgettings = self.forgettings().map(|outage| match outage.kind {
            Kind::Forgot => (outage.from, outage.to.saturating_add(LEASE)),
            _ => (outage.from, outage.to),
        });
        Spans::of(forgettings.collect()).between()
    }

    /// Whether an admission that was seen at one moment may be undone by another: a store may have forgotten it, and a
    /// master that was replaced may let people in until its lease ends.
    pub(in crate::history) fn may_be_undone(&self, seen_at: At, by: At) -> bool {
        self.store_forgot(seen_at.saturating_sub(LEASE), by)
    }

    /// Whether a store may have forgotten for good, by a moment, what these nodes have known since the moments named.
    ///
    /// Every other node learns of it too. Each that has learned of it was dead, stopped or cut off from before the
    /// others told the store what they know until joins went on; or it died and had not written it down.
    pub(in crate::history) fn lost_with(&self, what: Known, knew: &Knowing, by: At) -> bool {
        let Some(&since) = knew.values().min() else {
            return false;
        };
        let mut knew = knew.clone();
        for node in 0..self.nodes {
            let learned = self.learned_by(node, since);
            let at = knew.entry(node).or_insert(learned);
            *at = learned.min(*at);
        }
        let mut forgettings = self.forgettings().filter(|it| it.touches(since, by));
        forgettings.any(|forgetting| {
            let mut knew = knew.iter().filter(|(_, at)| **at <= forgetting.to);
            knew.all(|(&node, &at)| self.was_out(node, what, at, forgetting))
        })
    }

    /// When a node has certainly learned of what the store knew at a moment.
    fn learned_by(&self, node: usize, known_at: At) -> At {
        let hindering = |outage: &&Outage| {
            let of_store = outage.target == Target::Store && outage.kind != Kind::Held;
            of_store || outage.target == Target::Node(node)
        };
        let mut from = known_at;
        for outage in self.outages.iter().filter(hindering) {
            if outage.touches(from, from + SPREAD) {
                from = from.max(outage.to);
            }
        }
        from.saturating_add(SPREAD)
    }

    fn was_out(&self, node: usize, what: Known, knew_at: At, forgetting: &Outage) -> bool {
        let mut outages = self.of_node(node, knew_at, forgetting);
        outages.any(|outage| {
            let returned_late = outage.to >= forgetting.from + HOLD;
            let unwritten = what == Known::InMemory || outage.from <= knew_at + RECORDED;
            match outage.kind {
                Kind::Emptied => true,
                Kind::Killed => returned_late || unwritten,
                _ => returned_late,
            }
        })
    }

    /// What befell a node after it knew something and before it had told a store that forgot.
    fn of_node(
        &self,
        node: usize,
        knew_at: At,
        forgetting: &Outage,
    ) -> impl Iterator<Item = &Outage> {
        let told_by = forgetting.to + FOUND;
        self.outages.iter().filter(move |outage| {
            outage.target == Target::Node(node) && outage.touches(knew_at, told_by)
        })
    }

    /// When nodes may first have reached a store again that has forgotten.
    fn reachable_after(&self, forgetting: &Outage) -> At {
        let out_of_reach = self.outages.iter().filter(|outage| {
            let stopped = outage.target == Target::Store && outage.kind == Kind::Stopped;
            stopped && outage.touches(forgetting.to, forgetting.to)
        });
        let until = out_of_reach.map(|outage| outage.to).max();
        until.unwrap_or_default().max(forgetting.to)
    }

    /// Whether a place may be missing until its holder asks: it is older than what nodes tell again, and nothing was
    /// left; or its node died or found the store too late.
    pub(in crate::history) fn may_be_missing(&self, story: &Story<'_>, by: At) -> bool {
        let joined = story.acknowledged;
        let mut forgettings = self.forgettings().filter(|it| it.touches(joined, by));
        forgettings.any(|forgetting| {
            let is_old = joined + TOLD_AGAIN < self.reachable_after(forgetting);
            let mut outages = self.of_node(story.join.node, joined, forgetting);
            (is_old && forgetting.kind == Kind::Emptied)
                || outages.any(|outage| match outage.kind {
                    Kind::Killed | Kind::Emptied => true,
                    _ => outage.to >= joined + TOLD_AGAIN,
                })
        })
    }
}

impl Story<'_> {
    /// The nodes that know of the place, each with the first moment at which it said so.
    pub(in crate::history) fn known_to(&self) -> Knowing {
        let answers = self.records.iter().copied();
        knowing(answers.filter(|record| record.outcome == Outcome::Ok))
    }

    /// The nodes that know that the place is inside.
    pub(in crate::history) fn seen_inside_by(&self) -> Knowing {
        knowing(self.inside())
    }
}

/// The nodes that gave these answers, each with the moment of its first.
pub(in crate::history) fn knowing<'a>(answers: impl Iterator<Item = &'a Record>) -> Knowing {
    let mut nodes = Knowing::new();
    for answer in answers {
        let first = nodes.entry(answer.node).or_insert(answer.t1);
        *first = answer.t1.min(*first);
    }
    nodes
}
