//! Stretches of time.

use crate::history::record::At;

/// Stretches of time in their order, none touching the next.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::history) struct Spans(Vec<(At, At)>);

impl Spans {
    /// Stretches in any order, which may overlap.
    pub(in crate::history) fn of(mut spans: Vec<(At, At)>) -> Self {
        spans.retain(|(from, to)| from < to);
        spans.sort_unstable();
        let mut merged: Vec<(At, At)> = Vec::new();
        for (from, to) in spans {
            match merged.last_mut() {
                Some((_, last)) if from <= *last => *last = to.max(*last),
                _ => merged.push((from, to)),
            }
        }
        Self(merged)
    }

    /// Whether one of them covers all from one moment to another.
    pub(in crate::history) fn cover(&self, from: At, to: At) -> bool {
        let next = self.0.partition_point(|(begin, _)| *begin <= from);
        next > 0 && to <= self.0[next - 1].1
    }

    /// The stretches of all time that none of them covers.
    pub(in crate::history) fn between(self) -> impl Iterator<Item = (At, At)> {
        let from = self.0.clone().into_iter().map(|(_, to)| to);
        let to = self.0.into_iter().map(|(from, _)| from);
        [At::ZERO].into_iter().chain(from).zip(to.chain([At::MAX]))
    }

    /// When the first of them ends.
    pub(in crate::history) fn first_end(&self) -> Option<At> {
        self.0.first().map(|(_, to)| *to)
    }

    /// When they are interrupted, beginning with the moment `after`; the last interruption never ends.
    pub(in crate::history) fn gaps(&self, after: At) -> impl Iterator<Item = At> {
        let starts_covered = self.0.first().is_some_and(|(from, _)| *from <= after);
        let first = (!starts_covered).then_some(after);
        let ends = self.0.iter().map(|(_, to)| *to);
        first.into_iter().chain(ends.filter(move |to| *to >= after))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spans(list: &[(u64, u64)]) -> Spans {
        let secs = At::from_secs;
        Spans::of(list.iter().map(|(a, b)| (secs(*a), secs(*b))).collect())
    }

    #[test]
    fn touching_spans_are_one_and_empty_ones_none() {
        assert_eq!(spans(&[(5, 7), (1, 3), (3, 5), (9, 9)]), spans(&[(1, 7)]));
    }

    #[test]
    fn only_a_whole_span_covers() {
        let (spans, secs) = (spans(&[(1, 3), (5, 7)]), At::from_secs);
        assert!(spans.cover(secs(1), secs(3)));
        assert!(!spans.cover(secs(2), secs(6)));
        assert!(!spans.cover(secs(0), secs(2)));
    }

    #[test]
    fn what_lies_between_is_what_none_covers() {
        let secs = At::from_secs;
        let between: Vec<_> = spans(&[(1, 6), (2, 3), (7, 8)]).between().collect();
        let expected = [(At::ZERO, secs(1)), (secs(6), secs(7)), (secs(8), At::MAX)];
        assert_eq!(between, expected);
    }

    #[test]
    fn gaps_begin_where_spans_end() {
        let secs = At::from_secs;
        let gaps: Vec<_> = spans(&[(1, 3), (5, 7)]).gaps(secs(0)).collect();
        assert_eq!(gaps, [secs(0), secs(3), secs(7)]);
        let gaps: Vec<_> = spans(&[(1, 3), (5, 7)]).gaps(secs(2)).collect();
        assert_eq!(gaps, [secs(3), secs(7)]);
    }
}
