//! Each admission: once, of somebody who asked, at a moment that can be.

use std::collections::BTreeSet;

use super::{Rule, Violation};
use crate::history::{
    LAG, Moments, SLACK,
    evidence::{Evidence, Story},
    record::{At, Record, State},
};

/// A3: who is inside has joined, is let in once, and stays until it is over.
pub(super) fn once(evidence: &Evidence<'_>) -> Vec<Violation> {
    let mut broken = from_nowhere(evidence);
    for story in &evidence.stories {
        let exact = evidence.history.moments == Moments::Exact;
        let wrong = waits_again(evidence, story)
            .or_else(|| let_in_twice(evidence, story).filter(|_| exact))
            .or_else(|| impossible_moment(story).filter(|_| exact));
        broken.extend(wrong.map(|(what, records)| {
            let what = format!("{} of {} {what}", story.ordinal, story.user);
            Rule::A3.broken(what, records)
        }));
    }
    broken
}

type Found<'h> = Option<(String, [&'h Record; 2])>;

fn from_nowhere(evidence: &Evidence<'_>) -> Vec<Violation> {
    let places = evidence.stories.iter();
    let places: BTreeSet<_> = places.map(|story| (story.user, story.ordinal)).collect();
    let records = evidence.history.records.iter();
    records
        .filter(|record| record.state() == Some(State::Inside))
        .filter(|record| {
            let place = record
                .ordinal()
                .map(|ordinal| (record.user.as_str(), ordinal));
            !place.is_some_and(|place| places.contains(&place))
        })
        .map(|record| {
            let what = format!("{} is inside and has never joined", record.user);
            Rule::A3.broken(what, [record])
        })
        .collect()
}

/// Who is inside does not wait any more, unless the store has forgotten.
fn waits_again<'h>(evidence: &Evidence<'h>, story: &Story<'h>) -> Found<'h> {
    story.waiting().find_map(|(since, waits)| {
        let inside = story
            .inside()
            .find(|inside| inside.t1 < since && !evidence.may_be_undone(inside.t0, waits.t1))?;
        Some(("was inside, and waits again".into(), [inside, waits]))
    })
}

/// All answers name the same moment of admission, unless room time stood still or the store has forgotten.
fn let_in_twice<'h>(evidence: &Evidence<'h>, story: &Story<'h>) -> Found<'h> {
    let (first_at, first) = story.inside().find_map(said)?;
    story.inside().filter_map(said).find_map(|(at, other)| {
        let same = first_at.abs_diff(at) <= 2 * SLACK;
        let shifted = !evidence.store_was_up(first_at.min(at), other.t1);
        let what = format!("was let in at {first_at:.3?} and again at {at:.3?}");
        (!same && !shifted).then_some((what, [first, other]))
    })
}

/// Nobody is let in before asking, while still waiting, or after having been seen inside.
fn impossible_moment<'h>(story: &Story<'h>) -> Found<'h> {
    let (at, inside) = story.inside().find_map(said)?;
    let waited = story
        .waiting()
        .filter(|(_, record)| record.t0 < inside.t0)
        .max_by_key(|(since, _)| *since);
    let (since, before) = waited.unwrap_or((story.asked, story.join));
    let what = format!("waited at {since:.3?} and was let in at {at:.3?}");
    (at + LAG < since || at > inside.t1 + SLACK).then_some((what, [before, inside]))
}

fn said(record: &Record) -> Option<(At, &Record)> {
    let told = record.told.as_ref()?;
    Some((told.admitted_at?, record))
}
