//! Work conservation: nobody waits for nothing.

use std::time::Duration;

use super::{Rule, Violation};
use crate::history::{
    evidence::{Admission, Evidence, Story},
    record::{At, Op, Outcome},
};

/// A free slot is filled within this. The goal is a quarter of a second; a busy machine takes longer.
const PROMPT: Duration = Duration::from_secs(2);
/// Between two looks.
const STEP: Duration = Duration::from_millis(100);

/// A6: looks for a stretch of time without a fault in which somebody who is there certainly waits, a slot is
/// certainly free, and the tick is certainly not spent.
pub(super) fn no_idle_slot(evidence: &Evidence<'_>) -> Vec<Violation> {
    let policy = &evidence.history.policy;
    let length = PROMPT + policy.batch.map_or(Duration::ZERO, |_| policy.every);
    let end = evidence
        .history
        .records
        .iter()
        .map(|record| record.t1)
        .max();
    let end = end.unwrap_or_default();
    let people = People::of(evidence);
    let mut from = At::ZERO;
    while from + length <= end {
        let to = from + length;
        if is_quiet(evidence, from, to)
            && let Some(waits) = people.idle(evidence, from, to)
        {
            let what = format!(
                "{} of {} waits from {from:.3?} to {to:.3?} for nothing",
                waits.ordinal, waits.user
            );
            return vec![Rule::A6.broken(what, waits.records.iter().copied())];
        }
        from += STEP;
    }
    Vec::new()
}

/// Nothing was wrong, nor had just been.
fn is_quiet(evidence: &Evidence<'_>, from: At, to: At) -> bool {
    let mut outages = evidence.outages.iter();
    !outages.any(|outage| outage.touches(from.saturating_sub(PROMPT), to))
}

/// Everybody who may take a slot.
struct People {
    /// From when to when each place, also one that nobody knows of, may be let in.
    enters: Vec<(At, At)>,
    /// And may be inside.
    inside: Vec<(At, At)>,
}

impl People {
    fn of(evidence: &Evidence<'_>) -> Self {
        let stories = &evidence.stories;
        let unknown = unknown_joins(evidence);
        let known = stories.iter().map(|story| may_be_inside(evidence, story));
        let unseen = unknown
            .iter()
            .map(|(asked, last)| (*asked, gone_quiet(evidence, *last)));
        let inside: Vec<_> = known.chain(unseen).collect();
        // What the store forgets may come to pass again.
        let for_good = |at: &Admission<'_>| !evidence.store_forgot(at.earliest, At::MAX);
        let seen = stories.iter().map(|story| story.admission.filter(for_good));
        let enters = seen.chain(unknown.iter().map(|_| None));
        let enters = enters.zip(&inside).map(|(admission, inside)| {
            admission.map_or(*inside, |admission| (admission.earliest, admission.latest))
        });
        Self {
            enters: enters.collect(),
            inside,
        }
    }

    /// Somebody who waits for nothing from one moment to another.
    fn idle<'e, 'h>(&self, evidence: &'e Evidence<'h>, from: At, to: At) -> Option<&'e Story<'h>> {
        let policy = &evidence.history.policy;
        let touching = |spans: &[(At, At)]| {
            let spans = spans
                .iter()
                .filter(|(begin, end)| *begin <= to && from <= *end);
            spans.count() as u64
        };
        let spent = |batch| touching(&self.enters) >= batch;
        let full = |cap| touching(&self.inside) >= cap;
        if policy.batch.is_some_and(spent) || policy.active_max.is_some_and(full) {
            return None;
        }
        let mut stories = evidence.stories.iter();
        stories.find(|story| story.waits.cover(from, to) && story.present.cover(from, to))
    }
}

/// The longest time during which a place may be inside.
fn may_be_inside(evidence: &Evidence<'_>, story: &Story<'_>) -> (At, At) {
    let earliest = story.waits.first_end().unwrap_or(story.asked);
    let over = story.ends().map(|record| record.t1).min();
    let last = story.records.iter().map(|record| record.t1).max();
    let latest = over.unwrap_or_else(|| gone_quiet(evidence, last.unwrap_or(story.acknowledged)));
    (earliest, latest)
}

/// When somebody who was not heard of any more is certainly out: they stay present for a while, may be let in
/// until then, and keep the pass for as long as it lasts, and longer where the store was away.
fn gone_quiet(evidence: &Evidence<'_>, last: At) -> At {
    let policy = &evidence.history.policy;
    if policy.presence_ttl.is_zero() {
        return At::MAX;
    }
    let away = evidence.outages.iter().filter(|outage| outage.to > last);
    let away = away.fold(At::ZERO, |sum, outage| {
        sum.saturating_add(outage.to.saturating_sub(outage.from))
    });
    let quiet = policy.presence_ttl * 2 + policy.pass_ttl * 2 + PROMPT * 2;
    (last + quiet).saturating_add(away)
}

/// Joins that were never answered: a node that was stopped may carry one out late, even for somebody who was
/// answered by another node and has gone since.
fn unknown_joins(evidence: &Evidence<'_>) -> Vec<(At, At)> {
    let records = evidence.history.records.iter();
    let unknown =
        records.filter(|record| record.op == Op::Join && record.outcome == Outcome::Unknown);
    unknown.map(|record| (record.t0, record.t1)).collect()
}
