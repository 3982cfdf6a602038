//! For how long no join was taken.

use std::time::Duration;

use ropeline_testing::history::{At, History, Op, Outcome, Turn};

/// After each fault and before the next, the longest time without an acknowledged join.
pub(super) fn away(history: &History) -> Vec<Duration> {
    let records = history.records.iter();
    let joins = records.filter(|record| record.op == Op::Join && record.outcome == Outcome::Ok);
    let mut joins: Vec<_> = joins.map(|record| record.t1).collect();
    joins.sort_unstable();
    let faults = history.faults.iter();
    let faults = faults.filter(|fault| fault.turn == Turn::On);
    let faults: Vec<_> = faults.map(|fault| fault.at).collect();
    let ends = faults.iter().skip(1).copied().chain([At::MAX]);
    let spans = faults.iter().copied().zip(ends);
    spans
        .map(|(from, to)| longest_gap(&joins, from, to))
        .collect()
}

/// The longest time between two moments without one of those in between. What comes after the last of them counts
/// up to `to`, unless that never comes.
fn longest_gap(joins: &[At], from: At, to: At) -> Duration {
    let within = joins.iter().filter(|join| from < **join && **join < to);
    let end = (to < At::MAX).then_some(&to);
    let mut last = from;
    let gaps = within.chain(end).map(|next| {
        let gap = next.saturating_sub(last);
        last = *next;
        gap
    });
    gaps.max().unwrap_or(Duration::MAX)
}

#[test]
fn the_longest_time_without_a_join_is_told_for_each_fault() {
    let joins = [1, 2, 3, 7, 8, 9, 15, 16].map(At::from_secs);
    let gap = |from, to| longest_gap(&joins, At::from_secs(from), to);
    assert_eq!(gap(2, At::from_secs(9)), Duration::from_secs(4));
    assert_eq!(gap(8, At::MAX), Duration::from_secs(6));
    assert_eq!(gap(9, At::from_secs(14)), Duration::from_secs(5));
    assert_eq!(gap(20, At::MAX), Duration::MAX);
}
