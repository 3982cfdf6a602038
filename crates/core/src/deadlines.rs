//! Ordinals with a deadline each, like a sorted set scored by time.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::RangeInclusive,
    time::Duration,
};

use crate::{Ordinal, Pass, Timestamp};

/// What ends at a time.
pub(crate) trait Ends: Copy {
    /// When it does.
    fn at(self) -> Timestamp;
    /// The same, ending later by so much.
    fn put_off(self, by: Duration) -> Self;
}

impl Ends for Timestamp {
    fn at(self) -> Timestamp {
        self
    }

    fn put_off(self, by: Duration) -> Self {
        self + by
    }
}

impl Ends for Pass {
    fn at(self) -> Timestamp {
        self.expires_at
    }

    fn put_off(self, by: Duration) -> Self {
        Self {
            expires_at: self.expires_at + by,
            ..self
        }
    }
}

/// Ordinals in the order in which their time runs out, with what each has until then.
///
/// A tick lets thousands of neighbours in at once, and all of them have the same: they are one entry, until one of
/// them has something else. Entries go by their last ordinal, so that what runs out first, the lowest ordinal, is
/// taken off without finding the entry a new place.
#[derive(Debug, Clone)]
pub(crate) struct Deadlines<T> {
    runs: BTreeMap<Ordinal, Run<T>>,
    /// When each run ends, and its last ordinal.
    by_time: BTreeSet<(Timestamp, Ordinal)>,
    len: usize,
}

/// Neighbours from `first` on that have the same.
#[derive(Debug, Clone, Copy)]
struct Run<T> {
    first: Ordinal,
    what: T,
}

impl<T> Default for Deadlines<T> {
    fn default() -> Self {
        Self {
            runs: BTreeMap::new(),
            by_time: BTreeSet::new(),
            len: 0,
        }
    }
}

impl<T: Ends> Deadlines<T> {
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn get(&self, ordinal: Ordinal) -> Option<T> {
        self.run_with(ordinal).map(|(_, what)| what)
    }

    /// As [`Self::get`], for asking about one neighbour after the other: a run is looked for once.
    pub(crate) fn getter(&self) -> impl FnMut(Ordinal) -> Option<T> {
        let mut last = None;
        move |ordinal| {
            let known = last
                .as_ref()
                .is_some_and(|(run, _): &(RangeInclusive<Ordinal>, T)| run.contains(&ordinal));
            if !known {
                last = self.run_with(ordinal);
            }
            last.as_ref().map(|(_, what)| *what)
        }
    }

    fn run_with(&self, ordinal: Ordinal) -> Option<(RangeInclusive<Ordinal>, T)> {
        // Whoever has used a pass is a run of one, which is found in half the time that a range takes.
        let one = self.runs.get_key_value(&ordinal);
        let (last, run) = one.or_else(|| self.runs.range(ordinal..).next())?;
        (run.first <= ordinal).then_some((run.first..=*last, run.what))
    }

    /// Sets what an ordinal has, whether or not it had something.
    pub(crate) fn set(&mut self, ordinal: Ordinal, what: T) {
        match self.runs.get_mut(&ordinal) {
            Some(run) if run.first == ordinal => {
                let old = std::mem::replace(&mut run.what, what);
                self.by_time.remove(&(old.at(), ordinal));
                self.by_time.insert((what.at(), ordinal));
            }
            _ => {
                self.remove(ordinal);
                self.add(ordinal..=ordinal, what);
            }
        }
    }

    /// Sets what neighbours have, none of whom had anything.
    pub(crate) fn add(&mut self, ordinals: RangeInclusive<Ordinal>, what: T) {
        let (first, last) = ordinals.into_inner();
        self.len += usize::try_from(last.0 - first.0 + 1).expect("a line fits in memory");
        self.insert(first, last, what);
    }

    pub(crate) fn remove(&mut self, ordinal: Ordinal) -> Option<T> {
        let (last, run) = self.runs.range_mut(ordinal..).next()?;
        let (last, Run { first, what }) = (*last, *run);
        if first > ordinal {
            return None;
        }
        if ordinal < last {
            run.first = ordinal.next();
        } else {
            self.runs.remove(&last);
            self.by_time.remove(&(what.at(), last));
        }
        if first < ordinal {
            self.insert(first, Ordinal(ordinal.0 - 1), what);
        }
        self.len -= 1;
        Some(what)
    }

    /// Lets everything end later by so much; says which ordinals that are.
    pub(crate) fn put_off(&mut self, by: Duration) -> Vec<Ordinal> {
        let runs = std::mem::take(self).runs;
        let mut all = Vec::new();
        for (last, Run { first, what }) in runs {
            all.extend((first.0..=last.0).map(Ordinal));
            self.add(first..=last, what.put_off(by));
        }
        all
    }

    fn insert(&mut self, first: Ordinal, last: Ordinal, what: T) {
        self.runs.insert(last, Run { first, what });
        self.by_time.insert((what.at(), last));
    }

    /// All that there is, in the order of the ordinals.
    pub(crate) fn values(&self) -> impl Iterator<Item = T> {
        let runs = self.runs.iter();
        runs.flat_map(|(last, run)| (run.first.0..=last.0).map(|_| run.what))
    }

    /// The earliest deadline of all.
    pub(crate) fn earliest(&self) -> Option<Timestamp> {
        self.by_time.first().map(|(at, _)| *at)
    }

    /// The ordinal whose time ran out first, if any ran out by `now`.
    pub(crate) fn due(&self, now: Timestamp) -> Option<Ordinal> {
        let (_, last) = self.by_time.first().filter(|(at, _)| *at <= now)?;
        Some(self.runs[last].first)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What is done to an ordinal, or to some neighbours from it on that have nothing.
    #[derive(Debug, Clone)]
    enum Deed {
        Add(u64, u64),
        Set(u64),
        Remove,
    }

    fn deed() -> impl Strategy<Value = Deed> {
        prop_oneof![
            (1_u64..8, 0_u64..4).prop_map(|(count, at)| Deed::Add(count, at)),
            (0_u64..4).prop_map(Deed::Set),
            Just(Deed::Remove),
        ]
    }

    proptest! {
        #[test]
        fn runs_tell_the_same_as_one_entry_for_each(
            deeds in prop::collection::vec((1_u64..40, deed()), 1..80),
        ) {
            let mut runs = Deadlines::default();
            let mut plain = BTreeMap::new();
            for (first, deed) in deeds {
                let ordinal = Ordinal(first);
                match deed {
                    Deed::Add(count, at) => {
                        let free = (first..first + count)
                            .take_while(|ordinal| !plain.contains_key(&Ordinal(*ordinal)))
                            .count() as u64;
                        if free > 0 {
                            runs.add(ordinal..=Ordinal(first + free - 1), Timestamp(at));
                        }
                        plain.extend((first..first + free).map(|each| (Ordinal(each), Timestamp(at))));
                    }
                    Deed::Set(at) => {
                        runs.set(ordinal, Timestamp(at));
                        plain.insert(ordinal, Timestamp(at));
                    }
                    Deed::Remove => prop_assert_eq!(runs.remove(ordinal), plain.remove(&ordinal)),
                }
                let first = plain.iter().map(|(ordinal, at)| (*at, *ordinal)).min();
                prop_assert_eq!(runs.earliest(), first.map(|(at, _)| at));
                prop_assert_eq!(runs.due(Timestamp(9)), first.map(|(_, ordinal)| ordinal));
                prop_assert_eq!(runs.len(), plain.len());
                prop_assert!(runs.values().eq(plain.values().copied()));
                for ordinal in (0..50).map(Ordinal) {
                    prop_assert_eq!(runs.get(ordinal), plain.get(&ordinal).copied());
                }
            }
        }
    }
}
