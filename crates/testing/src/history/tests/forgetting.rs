//! What may be forgotten, and what may not although a store has forgotten.

use super::{
    Case, Rule, Tale,
    tale::{inside, only, waiting},
};
use crate::history::{Counts, Kind, State, Target};

pub(super) fn cases() -> Vec<Case> {
    [
        not_found(),
        ordinals(),
        endings(),
        order(),
        limits(),
        positions(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// A line in which nobody is ever let in, with Ann, whom node 0 answered.
fn ann() -> Tale {
    let still = Tale::park(1, 3_600_000).with_long_passes();
    still.joined("ann", 0..10, waiting(1, 1))
}

fn forgot(tale: Tale, at: u64) -> Tale {
    tale.suffered(Kind::Forgot, Target::Store, at..at + 100)
}

fn emptied(tale: Tale, at: u64) -> Tale {
    tale.suffered(Kind::Emptied, Target::Store, at..at + 100)
}

fn stopped(tale: Tale, at: std::ops::Range<u64>) -> Tale {
    tale.suffered(Kind::Stopped, Target::Node(0), at)
}

fn not_found() -> Vec<Case> {
    let find = |tale: Tale| tale.via(1).found("ann", 30_000..30_010, only(State::Gone));
    vec![
        Case {
            rule: Rule::W1,
            how: "a replica takes over without a place of a node that lives",
            wrong: find(forgot(ann(), 1_000)),
            right: find(forgot(ann(), 1_000).killed(0, 900..3_000)),
        },
        Case {
            rule: Rule::W1,
            how: "a place is lost although its node was back in time",
            wrong: find(stopped(forgot(ann(), 1_000), 900..3_000)),
            right: find(stopped(forgot(ann(), 1_000), 900..12_000)),
        },
        Case {
            rule: Rule::W1,
            how: "a store that was emptied lacks somebody who had just joined",
            wrong: find(emptied(ann(), 5_000)),
            right: find(emptied(ann(), 9_000)),
        },
        Case {
            rule: Rule::W1,
            how: "a store that was emptied lacks somebody who was to be sent again",
            wrong: find(emptied(ann(), 5_000)),
            right: find(emptied(
                ann().suffered(Kind::Stopped, Target::Store, 4_900..9_000),
                5_000,
            )),
        },
        Case {
            rule: Rule::W1,
            how: "a store that was emptied lacks somebody who asks",
            wrong: emptied(ann(), 9_000).polled("ann", 20_000..20_010, only(State::Gone)),
            right: find(emptied(ann(), 9_000)).polled("ann", 31_000..31_010, waiting(1, 1)),
        },
        Case {
            rule: Rule::W2,
            how: "an operator finds another place than the one that a living node acknowledged",
            wrong: forgot(ann(), 1_000).found("ann", 5_000..5_010, waiting(2, 2)),
            right: forgot(ann(), 1_000).killed(0, 900..3_000).found(
                "ann",
                5_000..5_010,
                waiting(2, 2),
            ),
        },
        Case {
            rule: Rule::W2,
            how: "a user whom a living node knows is given another place",
            wrong: forgot(ann(), 1_000).joined("ann", 5_000..5_010, waiting(2, 2)),
            right: forgot(ann(), 1_000).killed(0, 900..3_000).joined(
                "ann",
                5_000..5_010,
                waiting(2, 2),
            ),
        },
    ]
}

fn ordinals() -> Vec<Case> {
    let bob = |tale: Tale, at: u64| tale.via(1).joined("bob", at..at + 10, waiting(1, 1));
    // The other node cannot say what it has learned.
    let alone = |tale: Tale| tale.suffered(Kind::Stopped, Target::Node(1), 4_900..6_900);
    let node_lost = |tale: Tale| tale.suffered(Kind::Emptied, Target::Node(0), 5_000..5_100);
    let second = || Tale::park(1, 3_600_000).joined("ann", 0..10, waiting(2, 2));
    vec![
        Case {
            rule: Rule::W3,
            how: "an ordinal that a living node knew is given again",
            wrong: bob(forgot(ann(), 100), 2_000),
            right: bob(stopped(forgot(ann(), 100), 50..3_000), 2_000),
        },
        Case {
            rule: Rule::W3,
            how: "an ordinal is given again although its node was back before joins went on",
            wrong: bob(stopped(forgot(ann(), 100), 50..900), 2_000),
            right: bob(stopped(forgot(ann(), 100), 50..1_150), 2_000),
        },
        Case {
            rule: Rule::W3,
            how: "an ordinal is given again that another node had seen",
            wrong: bob(
                stopped(forgot(ann(), 100), 50..3_000)
                    .via(1)
                    .polled("ann", 20..30, waiting(1, 1)),
                2_000,
            ),
            right: bob(
                stopped(forgot(ann(), 100), 50..3_000).polled("ann", 20..30, waiting(1, 1)),
                2_000,
            ),
        },
        Case {
            rule: Rule::W3,
            how: "an ordinal is given again that a killed node had on its disk",
            wrong: bob(alone(forgot(ann(), 5_000)).killed(0, 5_000..5_100), 7_000),
            right: bob(node_lost(alone(forgot(ann(), 5_000))), 7_000),
        },
        Case {
            rule: Rule::W3,
            how: "an ordinal is given again that a node knew until others had brought it back",
            wrong: bob(forgot(ann(), 100).killed(0, 1_400..3_000), 2_000),
            right: bob(forgot(ann(), 100).killed(0, 150..200), 2_000),
        },
        Case {
            rule: Rule::W3,
            how: "an ordinal is given again that another node had learned of",
            wrong: bob(stopped(forgot(ann(), 1_500), 1_400..5_000), 4_000),
            right: bob(stopped(forgot(ann(), 800), 700..5_000), 4_000),
        },
        Case {
            rule: Rule::W4,
            how: "a lower ordinal is given after one that a living node knew",
            wrong: bob(forgot(second(), 100), 2_000),
            right: bob(stopped(forgot(second(), 100), 50..3_000), 2_000),
        },
    ]
}

fn endings() -> Vec<Case> {
    let left = || forgot(ann().left("ann", 20..30), 100);
    let back = |tale: Tale| tale.via(1).polled("ann", 2_000..2_010, waiting(1, 1));
    vec![Case {
        rule: Rule::T2,
        how: "somebody is back who has left at a living node",
        wrong: back(left()),
        right: back(stopped(left(), 50..3_000)),
    }]
}

fn order() -> Vec<Case> {
    // Ann and Bob wait until the two who are inside leave; then Bob comes in.
    let overtaken = || {
        Tale::bank(2)
            .with_presence()
            .joined("yan", 0..1, inside(1, 1))
            .joined("zoe", 2..3, inside(2, 3))
            .joined("ann", 5..10, waiting(3, 1))
            .joined("bob", 20..30, waiting(4, 2))
            .left("yan", 4_980..4_985)
            .left("zoe", 4_980..4_985)
            .polled("bob", 5_050..5_060, inside(4, 5_000))
    };
    let waits = |tale: Tale, at: u64| tale.polled("ann", at..at + 10, waiting(3, 1));
    vec![
        Case {
            rule: Rule::W5,
            how: "a store that was emptied does not wait for somebody",
            wrong: waits(waits(emptied(overtaken(), 500), 3_500), 5_500),
            // That Ann is there was lost with the master.
            right: waits(waits(forgot(overtaken(), 500), 3_500), 5_500),
        },
        Case {
            rule: Rule::W5,
            how: "somebody is overtaken of whom replicas had heard long ago",
            wrong: waits(waits(forgot(overtaken(), 4_000), 4_500), 5_500),
            // Ann may have been inside before it forgot, and be at the door.
            right: waits(forgot(overtaken(), 4_000), 5_500),
        },
    ]
}

fn limits() -> Vec<Case> {
    let both = |again: u64| {
        let ann = Tale::bank(1).joined("ann", 0..10, inside(1, 5));
        forgot(ann, 1_000)
            .at_gate("ann", 2_000..2_010, only(State::Inside))
            .joined("bob", 2_500..2_510, inside(2, 2_505))
            .at_gate("bob", again..again + 10, only(State::Inside))
            .at_gate("ann", again + 20..again + 30, only(State::Inside))
    };
    let counts = |here| Counts {
        issued: 2,
        waiting: here,
        door: 0,
        aside: 0,
        active: 0,
        ended: 0,
        admitted: 1,
        departed: 0,
    };
    let counted = |here| {
        let ann = Tale::bank(1).joined("ann", 0..10, inside(1, 5));
        let both = ann.joined("bob", 20..30, waiting_second());
        forgot(both, 1_000)
            .polled("bob", 1_200..1_210, waiting_second())
            .audited(3_000..3_010, counts(here))
            .audited(4_100..4_110, counts(here))
    };
    // Ann is inside where the store was replaced, and waits where it is now.
    let undone = |at: u64| {
        forgot(Tale::bank(1).joined("ann", 0..10, waiting(1, 1)), 1_000)
            .at_gate("ann", at..at + 10, only(State::Inside))
            .via(1)
            .polled("ann", 3_500..3_510, waiting(1, 1))
    };
    vec![
        Case {
            rule: Rule::A3,
            how: "somebody is let in by a master whose lease has ended",
            wrong: undone(3_200),
            right: undone(3_000),
        },
        Case {
            rule: Rule::A1,
            how: "more than the cap are inside longer than a lease after a failover",
            wrong: both(3_120),
            right: both(3_050),
        },
        Case {
            rule: Rule::W8,
            how: "somebody who asked since the store forgot is not counted",
            wrong: counted(0),
            right: counted(1),
        },
    ]
}

fn waiting_second() -> crate::history::Told {
    waiting(2, 1)
}

fn positions() -> Vec<Case> {
    let let_in = || {
        let tale = Tale::park(1, 1_000).joined("ann", 0..10, inside(1, 5));
        forgot(tale.joined("bob", 20..30, waiting(2, 1)), 100)
    };
    let counts_ann = |tale: Tale| tale.via(1).joined("cid", 2_000..2_010, waiting(3, 3));
    let left = || {
        let bob = ann().joined("bob", 12..15, waiting(2, 2));
        forgot(bob.left("ann", 20..30), 100)
    };
    // Ann's ordinal may be of somebody else when she leaves.
    let two = || ann().joined("bob", 12..15, waiting(2, 2));
    let ann_leaves = |tale: Tale| {
        let left = tale.via(1).left("ann", 5_000..5_010);
        left.polled("bob", 5_100..5_110, waiting(2, 2))
    };
    let counts_both = |tale: Tale| tale.via(1).joined("cid", 2_000..2_010, waiting(3, 3));
    vec![
        Case {
            rule: Rule::W7,
            how: "somebody is counted whom a living node has seen inside",
            wrong: counts_ann(let_in()),
            right: counts_ann(let_in().suffered(Kind::CutOff, Target::Node(0), 50..3_000)),
        },
        Case {
            rule: Rule::W7,
            how: "somebody is counted who has left at a living node",
            wrong: counts_both(left()),
            right: counts_both(stopped(left(), 50..3_000)),
        },
        Case {
            rule: Rule::W7,
            how: "somebody is counted whose place nobody else can have",
            wrong: ann_leaves(forgot(two(), 500)),
            right: ann_leaves(forgot(two(), 500).killed(0, 400..3_000)),
        },
    ]
}
