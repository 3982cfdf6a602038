//! The cap.

use super::{Rule, Violation};
use crate::history::{
    SLACK,
    evidence::{Evidence, Story},
    record::{At, Record},
};

/// A1: walks along all certain stays and counts; operators are told no more than the cap either.
pub(super) fn holds(evidence: &Evidence<'_>) -> Vec<Violation> {
    let Some(cap) = evidence.history.policy.active_max else {
        return Vec::new();
    };
    let audits = evidence.history.records.iter().filter_map(|record| {
        let active = record.counts?.active;
        let what = format!("{active} are inside, the cap is {cap}");
        (active > cap).then(|| Rule::A1.broken(what, [record]))
    });
    audits.chain(too_many_at_once(evidence, cap)).collect()
}

/// The moment with the most inside, if they are too many.
fn too_many_at_once(evidence: &Evidence<'_>, cap: u64) -> Option<Violation> {
    let mut steps = Vec::new();
    for stay in evidence
        .stories
        .iter()
        .flat_map(|story| stays(evidence, story))
    {
        if stay.from < stay.to {
            steps.push((stay.from, Step::Comes, stay.seen.id));
            steps.push((stay.to, Step::Goes, stay.seen.id));
        }
    }
    steps.sort_unstable();
    let (mut inside, mut most) = (Vec::new(), (At::ZERO, Vec::new()));
    for (at, step, seen) in steps {
        match step {
            Step::Comes => inside.push(seen),
            Step::Goes => inside.retain(|other| *other != seen),
        }
        if inside.len() > most.1.len() {
            most = (at, inside.clone());
        }
    }
    let (at, who) = most;
    let what = format!("{} are inside at {at:.3?}, the cap is {cap}", who.len());
    (who.len() as u64 > cap).then_some(Violation {
        rule: Rule::A1,
        what,
        records: who,
    })
}

/// At the same moment, one goes before another comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Goes,
    Comes,
}

/// From when to when somebody was certainly inside.
struct Stay<'h> {
    from: At,
    to: At,
    seen: &'h Record,
}

/// From the first answer that says so to the last question that was answered so, or as long as the pass
/// lasts. A store that forgets ends a stay, and a master that does not know yet that it was replaced may let others in
/// until its lease ends.
fn stays<'h>(evidence: &Evidence<'h>, story: &Story<'h>) -> Vec<Stay<'h>> {
    let mut stays: Vec<Stay<'h>> = Vec::new();
    for record in story.inside() {
        let until = inside_until(evidence, story, record);
        match stays.last_mut() {
            Some(stay) if !evidence.may_be_undone(stay.seen.t0, record.t1) => {
                stay.to = stay.to.max(until);
            }
            _ => stays.push(Stay {
                from: record.t1,
                to: until,
                seen: record,
            }),
        }
    }
    stays
}

/// Until when a pass that was seen certainly lasts.
fn inside_until(evidence: &Evidence<'_>, story: &Story<'_>, seen: &Record) -> At {
    let lasts = evidence.pass_lasts(story, seen).saturating_sub(SLACK);
    let left = story.leave().map_or(At::MAX, |leave| leave.t0);
    let outage = evidence.next_store_outage(seen.t0);
    if evidence.may_be_undone(seen.t0, seen.t1) {
        return seen.t0;
    }
    lasts.min(left).min(outage).max(seen.t0)
}
