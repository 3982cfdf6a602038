//! What may be forgotten for good, because nobody who knew it could tell the store.

use std::{collections::BTreeMap, time::Duration};

use super::{Evidence, Story};
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
/// What a node knows is on its disk by then.
const RECORDED: Duration = Duration::from_millis(1_500);

impl Evidence<'_> {
    /// The times at which a store forgets.
    pub(in crate::history) fn forgettings(&self) -> impl Iterator<Item = &Outage> {
        let of_store = |outage: &&Outage| outage.target == Target::Store;
        let outages = self.outages.iter().filter(of_store);
        outages.filter(|outage| outage.kind.forgets())
    }

    /// Whether a store may have forgotten for good, by a moment, what these nodes have known since the moments named:
    /// each of them was dead, stopped or cut off from before the others told the store what they know until joins
    /// went on.
    pub(in crate::history) fn lost_with(&self, knew: &BTreeMap<usize, At>, by: At) -> bool {
        let Some(&since) = knew.values().min() else {
            return false;
        };
        let mut forgettings = self.forgettings().filter(|it| it.touches(since, by));
        forgettings.any(|forgetting| {
            let mut knew = knew.iter().filter(|(_, at)| **at <= forgetting.to);
            knew.all(|(&node, &at)| self.was_out(node, at, forgetting))
        })
    }

    fn was_out(&self, node: usize, knew_at: At, forgetting: &Outage) -> bool {
        let mut outages = self.of_node(node, knew_at, forgetting);
        outages.any(|outage| {
            let returned_late = outage.to >= forgetting.from + HOLD;
            match outage.kind {
                Kind::Emptied => true,
                Kind::Killed => returned_late || outage.from <= knew_at + RECORDED,
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

    /// Whether a place may be missing until its holder asks: it is older than what nodes tell again, and nothing was
    /// left; or its node died or found the store too late.
    pub(in crate::history) fn may_be_missing(&self, story: &Story<'_>, by: At) -> bool {
        let joined = story.acknowledged;
        let mut forgettings = self.forgettings().filter(|it| it.touches(joined, by));
        forgettings.any(|forgetting| {
            let is_old = joined + TOLD_AGAIN < forgetting.to;
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
    pub(in crate::history) fn known_to(&self) -> BTreeMap<usize, At> {
        let answers = self.records.iter().copied();
        knowing(answers.filter(|record| record.outcome == Outcome::Ok))
    }

    /// The nodes that know that the place is inside.
    pub(in crate::history) fn seen_inside_by(&self) -> BTreeMap<usize, At> {
        knowing(self.inside())
    }
}

/// The nodes that gave these answers, each with the moment of its first.
pub(in crate::history) fn knowing<'a>(
    answers: impl Iterator<Item = &'a Record>,
) -> BTreeMap<usize, At> {
    let mut nodes = BTreeMap::new();
    for answer in answers {
        let first = nodes.entry(answer.node).or_insert(answer.t1);
        *first = answer.t1.min(*first);
    }
    nodes
}
