//! The rules, judged: each catches a history in which exactly it is broken, and not the same one put right.

mod admissions;
mod forgetting;
mod order;
mod places;
mod position;
mod room;
mod tale;
mod ticks;

use std::collections::BTreeSet;

use super::{Rule, Violation, check, rules};
use tale::Tale;

/// A history in which a rule is broken, and one that differs only in that it is not.
struct Case {
    rule: Rule,
    how: &'static str,
    wrong: Tale,
    right: Tale,
}

fn cases() -> Vec<Case> {
    [
        places::cases(),
        order::cases(),
        position::cases(),
        room::cases(),
        ticks::cases(),
        admissions::cases(),
        forgetting::cases(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

#[test]
fn every_broken_rule_is_caught_and_no_other_is_blamed() {
    let mut missed = Vec::new();
    for Case {
        rule, how, wrong, ..
    } in cases()
    {
        let history = wrong.end();
        let caught = check(&history);
        let only_this = caught.iter().all(|violation| violation.rule == rule);
        let named = |violation: &Violation| {
            let mut records = violation.records.iter();
            !violation.records.is_empty() && records.all(|id| history.records.get(*id).is_some())
        };
        if caught.is_empty() || !only_this || !caught.iter().all(named) {
            missed.push((rule, how, caught));
        }
    }
    assert_eq!(missed, []);
}

#[test]
fn an_honest_history_is_not_accused() {
    let accused: Vec<_> = cases()
        .into_iter()
        .map(|case| (case.how, check(&case.right.end())))
        .filter(|(_, broken)| !broken.is_empty())
        .collect();
    assert_eq!(accused, []);
}

#[test]
fn no_rule_goes_untried() {
    let there_are: BTreeSet<_> = rules::ALL.iter().map(|(rule, _)| *rule).collect();
    assert_eq!(there_are.len(), rules::ALL.len(), "each is there once");
    let tried: BTreeSet<_> = cases().iter().map(|case| case.rule).collect();
    assert_eq!(tried, there_are);
}

#[test]
fn a_history_is_written_as_lines_that_a_program_reads() {
    let tale = Tale::park(2, 1_000).joined("ann", 0..10, tale::inside(1, 5));
    let history = tale
        .killed(0, 20..30)
        .lost(super::Op::Poll, "ann", 40..50)
        .end();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("history.jsonl");
    history.write(&path).unwrap();
    let text = std::fs::read_to_string(path).unwrap();
    let lines: Vec<serde_json::Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let kinds: Vec<_> = lines
        .iter()
        .map(|line| (&line["op"], &line["turn"]))
        .collect();
    assert_eq!(kinds.len(), 5, "{text}");
    assert_eq!(lines[0]["batch"], 2);
    assert_eq!(
        (&lines[1]["op"], &lines[1]["state"]),
        (&"join".into(), &"inside".into())
    );
    assert_eq!(
        (&lines[1]["t1"], &lines[1]["ordinal"]),
        (&0.01.into(), &1.into())
    );
    assert_eq!(
        (&lines[2]["fault"], &lines[2]["target"]),
        (&"killed".into(), &"node 0".into())
    );
    assert_eq!(lines[3]["turn"], "off");
    assert_eq!(
        (&lines[4]["op"], &lines[4]["outcome"]),
        (&"poll".into(), &"unknown".into())
    );
}
