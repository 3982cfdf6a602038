//! Random histories of a fleet: the rule keeps its promises, and nothing in it can be left out.

use std::{collections::BTreeSet, ops::Range};

use ropeline_testing::fleet::{
    Excuse, Found, Mistake, Promise, Repair, Report, Rule, Schedule, Timeline, Trial, search,
    shrink,
};

/// Histories that are played at a time while one is looked for.
const STRIDE: usize = 250;

/// What breaks when a part of the rule is missing, or when something is done wrong.
const BROKEN: [(Rule, Promise); 25] = [
    (Rule::Without(Repair::Generation), Promise::OrdinalUnique),
    (Rule::Without(Repair::Generation), Promise::NoLostPlace),
    (Rule::Without(Repair::Generation), Promise::EverybodyIsBack),
    (Rule::Without(Repair::Term), Promise::Retold),
    (Rule::Without(Repair::Record), Promise::OrdinalUnique),
    (Rule::Without(Repair::Record), Promise::EndedStaysEnded),
    (Rule::Without(Repair::Record), Promise::FirstComeFirstServed),
    (Rule::Without(Repair::Retelling), Promise::Retold),
    (Rule::Without(Repair::PutBackIsRecent), Promise::Retold),
    (Rule::Without(Repair::SeenSigned), Promise::NoLostPlace),
    (Rule::Without(Repair::SeenSigned), Promise::EndedStaysEnded),
    (Rule::Without(Repair::Lease), Promise::CapHeld),
    (Rule::Without(Repair::FreshVouch), Promise::OrdinalUnique),
    (Rule::Without(Repair::AnswerCheck), Promise::Retold),
    (Rule::Without(Repair::AnswerGeneration), Promise::Retold),
    (Rule::Without(Repair::JoinHold), Promise::NoLostPlace),
    (Rule::Without(Repair::WaitForOthers), Promise::OrderKept),
    (
        Rule::Without(Repair::LookAfterDelete),
        Promise::EndedStaysEnded,
    ),
    (
        Rule::Without(Repair::AnyEpoch),
        Promise::TokenVoidOnlyByDelete,
    ),
    (
        Rule::Without(Repair::EndingsInMerge),
        Promise::EndedStaysEnded,
    ),
    (Rule::Without(Repair::Clamp), Promise::AheadNeverRises),
    (Rule::With(Mistake::AlwaysRaise), Promise::NoLivelock),
    (Rule::With(Mistake::AlwaysRaise), Promise::NodesAgree),
    (Rule::With(Mistake::MergeOnce), Promise::JoinsGoOn),
    (Rule::With(Mistake::NeverSettle), Promise::AdmissionGoesOn),
];

#[test]
fn no_promise_is_broken_in_ten_thousand_histories() {
    let trial = Trial::of(Rule::Fence);
    let report = search(0..10_000, &trial, |_| {});
    assert!(report.found.is_empty(), "{}", failures(&report, &trial));
    for excuse in [
        Excuse::OrdinalKnownToUnavailable,
        Excuse::EndingKnownToUnavailable,
        Excuse::WithinLease,
        Excuse::NotRetoldInTime,
    ] {
        assert!(report.excuses.of(excuse) > 0, "{excuse:?} is never tried");
    }
}

/// The figures, and one history for each promise that was broken.
fn failures(report: &Report, trial: &Trial) -> String {
    let mut text = report.to_string();
    for promise in report.broken().keys() {
        let mut found = report.found.values();
        let first = found.find(|found| found.broken.promise == *promise);
        text.extend(first.map(|first| format!("\n{}", first.story(trial))));
    }
    text
}

#[test]
fn a_part_that_is_missing_is_noticed() {
    for (rule, promise) in BROKEN {
        let trial = Trial::watching(rule, &[promise]);
        let found = first(&trial, 0..8_000);
        assert!(found.is_some(), "{rule:?} does not break {promise:?}");
    }
}

#[test]
fn no_promise_goes_untried() {
    let tried: BTreeSet<_> = BROKEN.iter().map(|(_, promise)| *promise).collect();
    let all: BTreeSet<_> = Promise::ALL.into_iter().collect();
    assert_eq!(tried, all);
}

/// The first history that breaks a promise, and does not if nothing is missing.
fn first(trial: &Trial, seeds: Range<u64>) -> Option<Found> {
    let whole = Trial::watching(Rule::Fence, &trial.watched);
    let is_kept = |found: &Found| {
        let played = Schedule::random(found.seed).play(&whole, Timeline::default());
        played.broken.is_none()
    };
    let starts = seeds.step_by(STRIDE);
    let mut found =
        starts.flat_map(|start| search(start..start + STRIDE as u64, trial, |_| {}).found);
    found.find_map(|(_, found)| is_kept(&found).then_some(found))
}

#[test]
fn a_history_is_the_same_every_time() {
    for seed in 0..20 {
        let trial = Trial::of(Rule::Fence);
        let timeline = || {
            let played = Schedule::random(seed).play(&trial, Timeline::kept());
            played.timeline.to_string()
        };
        assert_eq!(timeline(), timeline(), "seed {seed}");
    }
}

#[test]
fn nothing_can_be_left_out_of_a_history_that_was_made_short() {
    let promise = Promise::Retold;
    let trial = Trial::watching(Rule::Without(Repair::Retelling), &[promise]);
    let found = first(&trial, 0..1_000).expect("a history that breaks the promise");
    let short = shrink(&Schedule::random(found.seed), &trial, promise);
    let breaks = |schedule: &Schedule| {
        let broken = schedule.play(&trial, Timeline::default()).broken;
        broken.is_some_and(|broken| broken.promise == promise)
    };
    assert!(breaks(&short));
    assert!(short.steps.len() <= 3, "{short:?}");
    for left_out in 0..short.steps.len() {
        let mut shorter = short.clone();
        shorter.steps.remove(left_out);
        assert!(!breaks(&shorter), "{shorter:?}");
    }
}
