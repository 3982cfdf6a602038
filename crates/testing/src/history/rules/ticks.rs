//! The pace: so many per tick, however many nodes spend it, and none for ticks that nobody spent.
//!
//! Where ticks begin is not told. But they all have the same length, so there must be one way of laying them
//! over the admissions that leaves none with more than the batch.

use std::{
    cmp::Reverse,
    collections::{BTreeSet, BinaryHeap},
};

use super::{Rule, Violation};
use crate::history::{
    evidence::{Admission, Evidence},
    fault::{Kind, Target},
    record::At,
};

/// A2: a stretch of time touches at most two ticks more than it could hold whole.
pub(super) fn batch_holds(evidence: &Evidence<'_>) -> Vec<Violation> {
    let Some(pace) = Pace::of(evidence) else {
        return Vec::new();
    };
    let mut admissions: Vec<_> = evidence.admissions().map(|(_, at)| at).collect();
    admissions.sort_by_key(|admission| admission.decision().1);
    let starts = admissions.iter().map(|admission| admission.decision().0);
    let worst = starts.filter_map(|from| pace.too_many_from(from, &admissions));
    let worst = worst.max_by_key(|violation| violation.records.len());
    worst.into_iter().collect()
}

/// A4: while the store is there, no tick is spent twice.
pub(super) fn none_spent_twice(evidence: &Evidence<'_>) -> Vec<Violation> {
    let Some(pace) = Pace::of(evidence) else {
        return Vec::new();
    };
    let stretches = stretches(evidence).into_iter();
    stretches
        .filter_map(|(from, to)| {
            // What comes right after an outage is another rule's matter.
            let settled = if from.is_zero() {
                from
            } else {
                from + pace.every
            };
            let admissions = within(evidence, settled, to);
            let what = "however ticks are laid, one has more than the batch";
            pace.misfit(Rule::A4, what, &admissions)
        })
        .collect()
}

/// A5: the first tick after an outage is one tick.
pub(super) fn no_burst(evidence: &Evidence<'_>) -> Vec<Violation> {
    let Some(pace) = Pace::of(evidence) else {
        return Vec::new();
    };
    let stretches = stretches(evidence).into_iter();
    stretches
        .filter(|(from, _)| !from.is_zero())
        .filter_map(|(from, to)| {
            let admissions = within(evidence, from, to);
            let what = format!("more than one tick's batch after the outage until {from:.3?}");
            pace.misfit(Rule::A5, &what, &admissions)
        })
        .collect()
}

/// From the end of one outage of the store to the beginning of the next.
fn stretches(evidence: &Evidence<'_>) -> Vec<(At, At)> {
    let mut stretches = Vec::new();
    let mut from = At::ZERO;
    let outages = evidence.outages.iter();
    for outage in outages.filter(|outage| outage.target == Target::Store) {
        if outage.kind == Kind::Held {
            continue;
        }
        if from < outage.from {
            stretches.push((from, outage.from));
        }
        from = from.max(outage.to);
    }
    stretches.push((from, At::MAX));
    stretches
}

fn within<'h>(evidence: &Evidence<'h>, from: At, to: At) -> Vec<Admission<'h>> {
    let admissions = evidence.admissions().map(|(_, admission)| admission);
    let is_within = |admission: &Admission<'_>| {
        let (earliest, latest) = admission.decision();
        from <= earliest && latest <= to
    };
    admissions.filter(is_within).collect()
}

struct Pace {
    every: At,
    batch: u64,
}

impl Pace {
    fn of(evidence: &Evidence<'_>) -> Option<Self> {
        let policy = &evidence.history.policy;
        let every = policy.every;
        policy.batch.map(|batch| Self { every, batch })
    }

    /// Counts those who certainly came in between `from` and each later moment.
    fn too_many_from(&self, from: At, by_latest: &[Admission<'_>]) -> Option<Violation> {
        let after = by_latest
            .iter()
            .filter(|admission| from <= admission.decision().0);
        let after: Vec<_> = after.collect();
        let count = (1..=after.len()).find(|count| {
            let span = after[count - 1].decision().1.saturating_sub(from);
            let ticks = span.as_nanos() / self.every.as_nanos() + 2;
            *count as u128 > ticks * u128::from(self.batch)
        })?;
        let until = after[count - 1].decision().1;
        let what = format!("{count} came in from {from:.3?} to {until:.3?}");
        Some(Rule::A2.broken(what, after[..count].iter().map(|admission| admission.seen)))
    }

    /// A violation, if no way of laying ticks over these leaves every tick with at most the batch.
    fn misfit(&self, rule: Rule, what: &str, admissions: &[Admission<'_>]) -> Option<Violation> {
        // Laying ticks later matters only when a tick's start comes to lie behind somebody's earliest moment.
        let shifts: BTreeSet<_> = admissions
            .iter()
            .map(|admission| {
                let past = admission.decision().0.as_nanos() % self.every.as_nanos();
                At::from_nanos(u64::try_from(past).unwrap_or_default() + 1)
            })
            .collect();
        let fits = shifts.iter().any(|shift| self.fits(*shift, admissions));
        if fits || admissions.is_empty() {
            return None;
        }
        Some(rule.broken(what, admissions.iter().map(|admission| admission.seen)))
    }

    /// Whether each can be given to a tick in which it may have happened, and none gets more than the batch.
    fn fits(&self, shift: At, admissions: &[Admission<'_>]) -> bool {
        let tick = |at: At| {
            let since = (at + self.every).saturating_sub(shift);
            since.as_nanos() / self.every.as_nanos()
        };
        let mut coming: Vec<_> = admissions
            .iter()
            .map(Admission::decision)
            .map(|(earliest, latest)| (tick(earliest), tick(latest)))
            .collect();
        coming.sort_unstable();
        // Who can wait least is served first: if anything fits, that does.
        let mut here = BinaryHeap::new();
        let mut now = 0;
        for (first, last) in coming {
            while !here.is_empty() && now < first {
                if !self.serve(&mut here, now) {
                    return false;
                }
                now += 1;
            }
            now = now.max(first);
            here.push(Reverse(last));
        }
        while !here.is_empty() {
            if !self.serve(&mut here, now) {
                return false;
            }
            now += 1;
        }
        true
    }

    /// Spends one tick; `false` if somebody comes too late for it.
    fn serve(&self, here: &mut BinaryHeap<Reverse<u128>>, now: u128) -> bool {
        for _ in 0..self.batch {
            match here.pop() {
                Some(Reverse(last)) if last < now => return false,
                Some(_) => {}
                None => break,
            }
        }
        true
    }
}
