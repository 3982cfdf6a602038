//! What follows from comparing visitors with each other.

use super::{
    At, Rule, Wrong,
    seen::{Joined, Seen},
};

/// The highest ordinal that was known to be inside, over time.
#[derive(Debug, Default)]
pub(super) struct Heads(Vec<(At, u64)>);

impl Heads {
    /// This ordinal was inside at the latest by then.
    pub(super) fn admitted(&mut self, ordinal: u64, by: At) {
        let last = self.0.last().copied();
        if last.is_none_or(|(_, highest)| highest < ordinal) {
            // Answers may be told of out of order; the later moment is the safe one.
            let at = last.map_or(by, |(at, _)| at.max(by));
            self.0.push((at, ordinal));
        }
    }

    /// The highest that was known before a moment.
    pub(super) fn before(&self, moment: At) -> Option<u64> {
        let known = self.0.partition_point(|(at, _)| *at < moment);
        known.checked_sub(1).map(|last| self.0[last].1)
    }
}

/// All joins, the highest ordinal first.
#[derive(Debug)]
pub(super) struct Joins(Vec<(usize, Joined)>);

impl Joins {
    pub(super) fn of(seen: &[Seen]) -> Self {
        let joins = seen.iter().enumerate();
        let mut joins: Vec<_> = joins
            .filter_map(|(who, seen)| Some((who, seen.joined?)))
            .collect();
        joins.sort_by_key(|(_, joined)| std::cmp::Reverse(joined.ordinal));
        Self(joins)
    }

    /// Walks down the ordinals and keeps the earliest answer above: nobody below may have asked after it.
    pub(super) fn check(&self, wrong: &mut Wrong) {
        let mut above: Option<(usize, Joined)> = None;
        let mut last: Option<(usize, u64)> = None;
        for &(who, joined) in &self.0 {
            let Joined { ordinal, span } = joined;
            if let Some((other, _)) = last.filter(|(_, last)| *last == ordinal) {
                let what = format!("has ordinal {ordinal}, as visitor {other} has");
                wrong.add(Rule::OrdinalUnique, who, &what);
            }
            last = Some((who, ordinal));
            if let Some((other, first)) = above
                && first.ordinal != ordinal
                && first.span.answered < span.asked
            {
                let what = format!(
                    "asked after visitor {other} was answered with {}, and got {ordinal}",
                    first.ordinal
                );
                wrong.add(Rule::JoinedInOrder, who, &what);
            }
            if above.is_none_or(|(_, first)| span.answered < first.span.answered) {
                above = Some((who, joined));
            }
        }
    }
}

/// From when to when visitors were certainly inside.
#[derive(Debug)]
pub(super) struct Stays(Vec<(At, Step, usize)>);

/// At the same moment, one goes before another comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Goes,
    Comes,
}

impl Stays {
    pub(super) fn of(seen: &[Seen]) -> Self {
        let mut steps = Vec::new();
        for (who, seen) in seen.iter().enumerate() {
            if let Some(stay) = seen.inside.filter(|stay| stay.from < stay.to) {
                steps.push((stay.from, Step::Comes, who));
                steps.push((stay.to, Step::Goes, who));
            }
        }
        steps.sort_unstable();
        Self(steps)
    }

    /// The most at one moment, and who was the last of them to come.
    pub(super) fn most_at_once(&self) -> Option<(usize, u64)> {
        let (mut inside, mut most) = (0_u64, None);
        for &(_, step, who) in &self.0 {
            match step {
                Step::Comes => inside += 1,
                Step::Goes => inside -= 1,
            }
            if most.is_none_or(|(_, most)| inside > most) {
                most = Some((who, inside));
            }
        }
        most
    }
}
