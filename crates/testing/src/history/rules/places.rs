//! Places: kept, one for each, each with a number of its own, and over when they are over.

use std::collections::BTreeMap;

use super::{Rule, Violation};
use crate::history::{
    evidence::{Evidence, Known, Story, knowing},
    record::{At, Op, Outcome, Record, State},
};

/// W1: every acknowledged place is live, or has ended for a reason, or was at least asked for at the end.
pub(super) fn none_lost(evidence: &Evidence<'_>) -> Vec<Violation> {
    let stories = evidence.stories.iter();
    stories
        .filter_map(|story| {
            let why = wrongly_ended(evidence, story).or_else(|| never_seen_again(evidence, story));
            let (what, record) = why?;
            let what = format!("{} of {} {what}", story.ordinal, story.user);
            Some(Rule::W1.broken(what, [story.join, record]))
        })
        .collect()
}

/// The first answer that says that the place is over, or never was, when it cannot be.
fn wrongly_ended<'h>(
    evidence: &Evidence<'h>,
    story: &Story<'h>,
) -> Option<(&'static str, &'h Record)> {
    let mut records = story.records.iter();
    records.find_map(|&record| {
        let fine = match record.state() {
            _ if record.op == Op::Leave => true,
            // An operator is not told how it ended.
            Some(State::Gone) if record.op == Op::Find => {
                evidence.may_be_over(story, record.t1) || evidence.may_be_missing(story, record.t1)
            }
            Some(State::Gone) => evidence.may_be_gone(story, record.t1),
            Some(State::Done) => evidence.may_be_done(story, record.t1),
            Some(State::Waiting | State::Inside) => true,
            None => record.outcome != Outcome::Fail || !is_about_token(record),
        };
        let what = match record.op {
            Op::Find => "was acknowledged, and no operator finds it",
            _ => "was acknowledged, and is over without a reason",
        };
        (!fine).then_some((what, record))
    })
}

/// A refusal of the token itself, and not of the time.
fn is_about_token(record: &Record) -> bool {
    matches!(record.status, Some(401 | 404))
}

fn never_seen_again<'h>(
    evidence: &Evidence<'h>,
    story: &Story<'h>,
) -> Option<(&'static str, &'h Record)> {
    let drained_at = evidence.history.drained_at?;
    let &last = story.records.last()?;
    let known = story.records.iter().any(|record| {
        let over = record.state().is_some_and(State::is_end);
        record.outcome == Outcome::Ok && (over || record.t0 >= drained_at)
    });
    (!known).then_some(("was acknowledged, and nobody asked for it at the end", last))
}

/// W2: no user has two places at once, and no token stands for another place than its own.
pub(super) fn one_each(evidence: &Evidence<'_>) -> Vec<Violation> {
    let mut by_user: BTreeMap<&str, Vec<&Story<'_>>> = BTreeMap::new();
    for story in &evidence.stories {
        by_user.entry(story.user).or_default().push(story);
    }
    let mut broken = Vec::new();
    for (user, mut places) in by_user {
        places.sort_by_key(|story| story.acknowledged);
        let overlapping = places.windows(2).filter(|pair| {
            let (first, second) = (pair[0], pair[1]);
            live_until(evidence, first, second.acknowledged) >= second.acknowledged
        });
        broken.extend(overlapping.map(|pair| {
            let what = format!("{user} has {} and {}", pair[0].ordinal, pair[1].ordinal);
            Rule::W2.broken(what, [pair[0].join, pair[1].join])
        }));
    }
    let records = evidence.history.records.iter();
    broken.extend(records.filter_map(|record| mistaken(evidence, record)));
    broken
}

/// Until when a place was certainly live: the last answer that says so, or as long as it could not end.
fn live_until(evidence: &Evidence<'_>, story: &Story<'_>, at: At) -> At {
    if !evidence.may_be_over(story, at) && !evidence.may_be_missing(story, at) {
        return at;
    }
    let waiting = story.waiting().map(|(since, _)| since);
    let inside = story.inside().map(|record| record.t0);
    waiting.chain(inside).max().unwrap_or(story.asked)
}

/// An answer that names another place than the token. Where that may be missing, an operator may find one that the user was
/// never told of.
fn mistaken(evidence: &Evidence<'_>, record: &Record) -> Option<Violation> {
    let told = record.told.as_ref()?.ordinal?;
    let holds = record.holds.filter(|holds| *holds != told)?;
    let mut stories = evidence.stories.iter();
    let story = stories.find(|story| story.user == record.user && story.ordinal == holds);
    let missing = story.is_some_and(|story| evidence.may_be_missing(story, record.t1));
    let what = format!("{} shows {holds} and is answered {told}", record.user);
    (record.op != Op::Find || !missing).then(|| Rule::W2.broken(what, [record]))
}

/// W3: no two users have the same ordinal, also not in another epoch: the room was never deleted. But one that was
/// lost with every node that knew it may be given again.
pub(super) fn ordinals_unique(evidence: &Evidence<'_>) -> Vec<Violation> {
    let pairs = evidence.stories.windows(2);
    pairs
        .filter(|pair| pair[0].ordinal == pair[1].ordinal)
        .filter(|pair| {
            let first = pair.iter().min_by_key(|story| story.acknowledged);
            let again = pair.iter().map(|story| story.acknowledged).max();
            let excused = first.zip(again).is_some_and(|(first, again)| {
                evidence.lost_with(Known::OnDisk, &first.known_to(), again)
            });
            !excused
        })
        .map(|pair| {
            let what = format!(
                "{} is of {} and {}",
                pair[0].ordinal, pair[0].user, pair[1].user
            );
            Rule::W3.broken(what, [pair[0].join, pair[1].join])
        })
        .collect()
}

/// The earliest moment at which an answer may have been true. While the store is away, who was seen inside is shown
/// as they were, and how old that is.
fn since(evidence: &Evidence<'_>, record: &Record) -> Option<At> {
    let as_of = record.told.as_ref().and_then(|told| told.as_of);
    let is_memory = record.op == Op::Poll && !evidence.store_was_up(record.t0, record.t1);
    record.since().map(|since| match as_of {
        Some(as_of) if is_memory => since.min(as_of),
        _ => since,
    })
}

/// T2: nothing that was true after a place had ended says that it is live, unless the store has forgotten that and
/// nobody who knew could tell it.
pub(super) fn ended_stays_ended(evidence: &Evidence<'_>) -> Vec<Violation> {
    let stories = evidence.stories.iter();
    stories
        .filter_map(|story| {
            let ended = story.ends().min_by_key(|record| record.t1)?;
            let knew = knowing(story.ends());
            let back = story.records.iter().find(|record| {
                let live = matches!(record.state(), Some(State::Waiting | State::Inside));
                live && since(evidence, record).is_some_and(|since| since > ended.t1)
                    && !evidence.lost_with(Known::InMemory, &knew, record.t1)
            })?;
            let what = format!("{} of {} had ended, and is back", story.ordinal, story.user);
            Some(Rule::T2.broken(what, [ended, *back]))
        })
        .collect()
}
