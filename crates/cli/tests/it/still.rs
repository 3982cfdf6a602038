//! What clients saw of a line in which nobody but the first is ever admitted, and whether it was right.

use std::{collections::HashSet, time::Duration};

use crate::visitor::Place;

/// The settings of such a room.
pub(crate) const STILL_ROOM: &str = "\
[rooms.main]
every = \"30d\"
batch = 1
pass_ttl = \"30d\"
pass_max = \"0s\"
presence_ttl = \"0s\"
";

/// An acknowledged join.
#[derive(Debug, Clone)]
pub(crate) struct Join {
    pub(crate) token: String,
    pub(crate) ordinal: u64,
    /// When the request was about to be sent, since the start of the test.
    pub(crate) sent: Duration,
    /// When the answer was there.
    pub(crate) answered: Duration,
}

/// A broken promise.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// An acknowledged place is gone.
    Lost(u64),
    /// An acknowledged place is another one now.
    Moved { ordinal: u64, found: Place },
    /// Two joins were given one ordinal.
    Doubled(u64),
    /// `ordinal` was asked for when `by` had been answered, and is ahead of it.
    Inverted { ordinal: u64, by: u64 },
}

/// Every promise that the joins, and what was found of each afterwards, break.
pub(crate) fn judge(joins: &[Join], found: &[Option<Place>]) -> Vec<Fault> {
    let mut faults = misplaced(joins, found);
    faults.extend(doubled(joins));
    faults.extend(inverted(joins));
    faults
}

/// Acknowledged places that are not where they were.
pub(crate) fn misplaced(joins: &[Join], found: &[Option<Place>]) -> Vec<Fault> {
    assert_eq!(joins.len(), found.len(), "one answer for each join");
    let pairs = joins.iter().zip(found);
    let faults = pairs.filter_map(|(join, found)| match found {
        None => Some(Fault::Lost(join.ordinal)),
        Some(found) if *found == place_of(join.ordinal) => None,
        Some(found) => Some(Fault::Moved {
            ordinal: join.ordinal,
            found: found.clone(),
        }),
    });
    faults.collect()
}

/// Where the holder of an ordinal must be.
pub(crate) fn place_of(ordinal: u64) -> Place {
    Place {
        ordinal,
        status: if ordinal == 1 { "ACTIVE" } else { "WAITING" }.to_owned(),
        ahead: ordinal.saturating_sub(2),
    }
}

fn doubled(joins: &[Join]) -> Vec<Fault> {
    let mut known = HashSet::new();
    let twice = joins.iter().filter(|join| !known.insert(join.ordinal));
    twice.map(|join| Fault::Doubled(join.ordinal)).collect()
}

/// Walks from the last ordinal to the first: whoever was answered before this one asked is ahead of it, so
/// none of those behind was.
fn inverted(joins: &[Join]) -> Vec<Fault> {
    let mut joins: Vec<_> = joins.iter().collect();
    joins.sort_by_key(|join| std::cmp::Reverse(join.ordinal));
    let mut first_answered: Option<&Join> = None;
    let mut faults = Vec::new();
    for join in joins {
        if let Some(behind) = first_answered.filter(|behind| behind.answered < join.sent) {
            faults.push(Fault::Inverted {
                ordinal: join.ordinal,
                by: behind.ordinal,
            });
        }
        if first_answered.is_none_or(|first| join.answered < first.answered) {
            first_answered = Some(join);
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    fn join(ordinal: u64, sent: u64, answered: u64) -> Join {
        Join {
            token: String::new(),
            ordinal,
            sent: Duration::from_millis(sent),
            answered: Duration::from_millis(answered),
        }
    }

    fn found(joins: &[Join]) -> Vec<Option<Place>> {
        joins
            .iter()
            .map(|join| Some(place_of(join.ordinal)))
            .collect()
    }

    #[test]
    fn a_right_history_has_no_faults() {
        // The second and third asked at the same time; their order is free. Five is a join without an answer.
        let joins = [
            join(1, 0, 10),
            join(3, 11, 20),
            join(2, 12, 30),
            join(4, 31, 40),
            join(6, 41, 50),
        ];
        assert_eq!(judge(&joins, &found(&joins)), []);
    }

    #[test]
    fn a_lost_token_is_found() {
        let joins = [join(1, 0, 10), join(2, 11, 20)];
        let found = [Some(place_of(1)), None];
        assert_eq!(judge(&joins, &found), [Fault::Lost(2)]);
    }

    #[test]
    fn a_place_that_moved_is_found() {
        let joins = [join(1, 0, 10), join(7, 11, 20)];
        let moved = [
            Place {
                ahead: 4,
                ..place_of(7)
            },
            Place {
                status: "ACTIVE".into(),
                ..place_of(7)
            },
            place_of(8),
        ];
        for found in moved {
            let faults = judge(&joins, &[Some(place_of(1)), Some(found.clone())]);
            assert_eq!(faults, [Fault::Moved { ordinal: 7, found }]);
        }
    }

    #[test]
    fn a_doubled_ordinal_is_found() {
        let joins = [join(1, 0, 10), join(2, 11, 20), join(2, 12, 21)];
        assert_eq!(judge(&joins, &found(&joins)), [Fault::Doubled(2)]);
    }

    #[test]
    fn an_inversion_is_found_whatever_lies_between() {
        let joins = [
            join(1, 0, 100),
            join(2, 50, 60),
            join(3, 0, 70),
            join(4, 0, 49),
        ];
        let faults = judge(&joins, &found(&joins));
        assert_eq!(faults, [Fault::Inverted { ordinal: 2, by: 4 }]);
    }
}
