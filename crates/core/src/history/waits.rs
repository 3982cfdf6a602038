//! Waits and estimates, read off two curves: how far the line had grown, and how far it had been served.

use std::time::Duration;

use super::Look;
use crate::{Timestamp, pace::count};

/// Waits of those whose turn came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Waits {
    /// How many.
    pub count: u64,
    /// Half of them waited no longer.
    pub p50: Duration,
    /// Nine of ten.
    pub p90: Duration,
    /// All but one in a hundred.
    pub p99: Duration,
    /// The longest.
    pub max: Duration,
}

/// Estimates against what came of them. Each is what the last in line was told at a look.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Grade {
    /// How many estimates came due.
    pub count: u64,
    /// Mean of estimate less wait, in seconds: below zero, people waited longer than they were told.
    pub mean_error_s: f64,
    /// Mean of the same without its sign.
    pub mean_abs_error_s: f64,
    /// Share of the waits that ended within the band that was told.
    pub within_band: f64,
}

/// So many places with the same wait.
#[derive(Clone, Copy)]
pub(super) struct Share {
    pub(super) wait: Duration,
    pub(super) places: u64,
}

pub(super) fn waits(looks: &[Look], window: Duration) -> Waits {
    let mut shares = shares(looks, window);
    shares.sort_unstable_by_key(|share| share.wait);
    let total: u64 = shares.iter().map(|share| share.places).sum();
    let quantile = |per_cent: u64| {
        let mut rank = (total * per_cent).div_ceil(100).max(1);
        let reached = shares.iter().find(|share| {
            let reached = rank <= share.places;
            rank = rank.saturating_sub(share.places);
            reached
        });
        reached.map_or(Duration::ZERO, |share| share.wait)
    };
    Waits {
        count: total,
        p50: quantile(50),
        p90: quantile(90),
        p99: quantile(99),
        max: quantile(100),
    }
}

/// The places whose turn came, in runs that joined between the same two looks and were served between the
/// same two looks. Those who joined before the first look are left out: nobody saw when.
fn shares(looks: &[Look], window: Duration) -> Vec<Share> {
    let Some(from) = looks.last().map(|last| last.at - window) else {
        return Vec::new();
    };
    let joined = Steps::of(looks, |look| look.issued);
    let served = Steps::of(looks, |look| look.head);
    shares_of(joined, served, from)
}

/// As [`shares`], of those alone whose turn came between the last two looks.
pub(super) fn last_shares<'a>(
    looks: impl DoubleEndedIterator<Item = &'a Look> + Clone,
) -> Vec<Share> {
    let mut newest = looks.clone().rev();
    let (Some(last), Some(before)) = (newest.next(), newest.next()) else {
        return Vec::new();
    };
    let joined = Steps::of(looks, |look| look.issued);
    let served = Steps::of([before, last], |look| look.head);
    shares_of(joined, served, before.at)
}

fn shares_of(
    mut joined: impl Iterator<Item = Step>,
    served: impl Iterator<Item = Step>,
    from: Timestamp,
) -> Vec<Share> {
    let mut shares = Vec::new();
    let mut run = joined.next();
    for turn in served {
        let mut next = turn.first;
        while let Some(join) = run {
            if join.last < next {
                run = joined.next();
                continue;
            }
            let (first, last) = (join.first.max(next), join.last.min(turn.last));
            if first > last {
                break;
            }
            if turn.at >= from {
                shares.push(Share {
                    wait: turn.at.since(join.at),
                    places: last - first + 1,
                });
            }
            next = last + 1;
        }
    }
    shares
}

/// Ordinals `first..=last` that a curve passed between two looks, at about the time between them.
#[derive(Clone, Copy)]
struct Step {
    first: u64,
    last: u64,
    at: Timestamp,
}

/// The steps of a curve that never falls.
struct Steps<'a, I, F> {
    looks: I,
    value: F,
    last: Option<&'a Look>,
}

impl<'a, I: Iterator<Item = &'a Look>, F: Fn(&Look) -> u64> Steps<'a, I, F> {
    fn of(looks: impl IntoIterator<IntoIter = I>, value: F) -> Self {
        let mut looks = looks.into_iter();
        let last = looks.next();
        Self { looks, value, last }
    }
}

impl<'a, I: Iterator<Item = &'a Look>, F: Fn(&Look) -> u64> Iterator for Steps<'a, I, F> {
    type Item = Step;

    fn next(&mut self) -> Option<Step> {
        loop {
            let before = self.last?;
            let after = self.looks.next()?;
            self.last = Some(after);
            let (from, to) = ((self.value)(before), (self.value)(after));
            if to > from {
                return Some(Step {
                    first: from + 1,
                    last: to,
                    at: before.at + after.at.since(before.at) / 2,
                });
            }
        }
    }
}

pub(super) fn grade(looks: &[Look], window: Duration) -> Grade {
    let Some(from) = looks.last().map(|last| last.at - window) else {
        return Grade::default();
    };
    let mut grade = Grade::default();
    let mut turns = Steps::of(looks, |look| look.head).peekable();
    for look in looks {
        let Some(told) = look.estimate else { continue };
        while turns.next_if(|turn| turn.last < look.issued).is_some() {}
        let Some(turn) = turns.peek() else { break };
        if turn.at < from || turn.at < look.at {
            continue;
        }
        let wait = turn.at.since(look.at);
        let error = told.wait.as_secs_f64() - wait.as_secs_f64();
        // A turn is seen at the next look, so a wait is known to about a second.
        let doubt = Duration::from_secs(1);
        let within = (told.low.saturating_sub(doubt)..=told.high + doubt).contains(&wait);
        grade.count += 1;
        grade.mean_error_s += error;
        grade.mean_abs_error_s += error.abs();
        grade.within_band += f64::from(u8::from(within));
    }
    if grade.count > 0 {
        let n = count(grade.count);
        grade.mean_error_s /= n;
        grade.mean_abs_error_s /= n;
        grade.within_band /= n;
    }
    grade
}
