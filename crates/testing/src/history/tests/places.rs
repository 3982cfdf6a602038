use super::{
    Case, Rule, Tale,
    tale::{inside, only, waiting},
};
use crate::history::{Kind, Op, State, Target};

pub(super) fn cases() -> Vec<Case> {
    [lost(), doubled(), numbers(), over()]
        .into_iter()
        .flatten()
        .collect()
}

/// A line in which nobody is ever let in.
fn still() -> Tale {
    Tale::park(1, 3_600_000)
}

fn lost() -> Vec<Case> {
    let ann = || still().joined("ann", 0..10, waiting(1, 1));
    let absent = || still().with_presence().joined("ann", 0..10, waiting(1, 1));
    let passed = || Tale::bank(1).joined("ann", 0..10, inside(1, 5));
    let gone = || only(State::Gone);
    vec![
        Case {
            rule: Rule::W1,
            how: "a place is gone that nobody gave up",
            wrong: ann().polled("ann", 20..30, gone()),
            right: ann()
                .lost(Op::Leave, "ann", 12..15)
                .polled("ann", 20..30, gone()),
        },
        Case {
            rule: Rule::W1,
            how: "the token of an acknowledged place is refused",
            wrong: ann().refused(Op::Poll, "ann", 20..30, 401),
            right: ann().refused(Op::Poll, "ann", 20..30, 503),
        },
        Case {
            rule: Rule::W1,
            how: "a place is missed for good before its holder was away for long enough",
            wrong: absent().polled("ann", 14_000..14_010, gone()),
            right: absent().polled("ann", 15_000..15_010, gone()),
        },
        Case {
            rule: Rule::W1,
            how: "a holder who keeps asking is taken for absent",
            wrong: absent().polled("ann", 5_000..5_010, waiting(1, 1)).polled(
                "ann",
                15_500..15_510,
                gone(),
            ),
            right: absent()
                .polled("ann", 5_000..5_010, waiting(1, 1))
                // Who had heard of it died before passing it on.
                .killed(0, 5_500..6_000)
                .polled("ann", 15_500..15_510, gone()),
        },
        Case {
            rule: Rule::W1,
            how: "a pass ends before its time",
            wrong: passed().polled("ann", 9_000..9_010, only(State::Done)),
            right: passed().polled("ann", 9_990..10_010, only(State::Done)),
        },
        Case {
            rule: Rule::W1,
            how: "a pass ends before its time, and the clock did not jump before that",
            wrong: passed()
                .polled("ann", 5_000..5_010, only(State::Done))
                .suffered(Kind::ClockAhead, Target::Store, 5_100..5_200),
            right: passed()
                .polled("ann", 5_000..5_010, only(State::Done))
                .suffered(Kind::ClockAhead, Target::Store, 4_000..4_100),
        },
        Case {
            rule: Rule::W1,
            how: "somebody was inside and is done without the time for it",
            wrong: ann().polled("ann", 4_000..4_010, waiting(1, 1)).polled(
                "ann",
                13_000..13_010,
                only(State::Done),
            ),
            right: ann().polled("ann", 4_000..4_010, waiting(1, 1)).polled(
                "ann",
                14_000..14_010,
                only(State::Done),
            ),
        },
        Case {
            rule: Rule::W1,
            how: "an operator does not find who has a place and never asked for it",
            wrong: ann().found("ann", 20..30, gone()),
            right: ann().found("ann", 20..30, only(State::Waiting)),
        },
        Case {
            rule: Rule::W1,
            how: "an operator's question makes nobody present",
            wrong: absent()
                .found("ann", 9_000..9_010, only(State::Waiting))
                .found("ann", 14_000..14_010, gone()),
            right: absent()
                .found("ann", 9_000..9_010, only(State::Waiting))
                .found("ann", 15_000..15_010, gone()),
        },
        Case {
            rule: Rule::W1,
            how: "nobody knows at the end what became of a place",
            wrong: ann().drained_at(50),
            right: ann().drained_at(50).polled("ann", 60..70, waiting(1, 1)),
        },
    ]
}

fn doubled() -> Vec<Case> {
    let ann = || still().joined("ann", 0..10, waiting(1, 1));
    vec![
        Case {
            rule: Rule::W2,
            how: "a user who has a place is given another",
            wrong: ann().joined("ann", 20..30, waiting(2, 2)),
            right: ann()
                .left("ann", 12..15)
                .joined("ann", 20..30, waiting(2, 1)),
        },
        Case {
            rule: Rule::W2,
            how: "two nodes give one user two places at once",
            wrong: still()
                .joined("ann", 0..10, waiting(1, 1))
                .joined("ann", 0..12, waiting(2, 2)),
            right: still()
                .joined("ann", 0..10, waiting(1, 1))
                .joined("ann", 0..12, waiting(1, 1)),
        },
        Case {
            rule: Rule::W2,
            how: "a token stands for another place",
            wrong: still()
                .joined("ann", 0..10, waiting(1, 1))
                .joined("bob", 20..30, waiting(2, 2))
                .polled("ann", 40..50, waiting(2, 1)),
            right: still()
                .joined("ann", 0..10, waiting(1, 1))
                .joined("bob", 20..30, waiting(2, 2))
                .polled("ann", 40..50, waiting(1, 1)),
        },
        Case {
            rule: Rule::W2,
            how: "an operator finds a user at another place than their own",
            wrong: ann().found("ann", 20..30, waiting(2, 2)),
            right: ann().found("ann", 20..30, waiting(1, 1)),
        },
    ]
}

fn numbers() -> Vec<Case> {
    let ann = || still().joined("ann", 0..10, waiting(1, 1));
    vec![Case {
        rule: Rule::W3,
        how: "an ordinal is given to two",
        wrong: ann().joined("bob", 5..15, waiting(1, 1)),
        right: ann().joined("bob", 5..15, waiting(2, 2)),
    }]
}

fn over() -> Vec<Case> {
    let left = || {
        still()
            .joined("ann", 0..10, waiting(1, 1))
            .left("ann", 20..30)
    };
    let finished = || {
        Tale::bank(1)
            .joined("ann", 0..10, inside(1, 5))
            .left("ann", 20..30)
    };
    vec![
        Case {
            rule: Rule::T2,
            how: "who has left is in line again",
            wrong: left().polled("ann", 40..50, waiting(1, 1)),
            right: left().polled("ann", 40..50, waiting(1, 1).pictured_at(29)),
        },
        Case {
            rule: Rule::T2,
            how: "a finished pass opens the gate",
            wrong: finished().at_gate("ann", 40..50, only(State::Inside)),
            right: finished().at_gate("ann", 30..50, only(State::Inside)),
        },
        Case {
            rule: Rule::T2,
            how: "a node that does not know yet that the store is back shows more than it remembers",
            wrong: finished()
                .suffered(Kind::Stopped, Target::Store, 12..80)
                .polled("ann", 40..50, inside(1, 5).pictured_at(35)),
            right: finished()
                .suffered(Kind::Stopped, Target::Store, 12..80)
                .polled("ann", 40..50, inside(1, 5).pictured_at(25)),
        },
        Case {
            rule: Rule::T2,
            how: "a store that has forgotten brings back who had left",
            wrong: left().suffered(Kind::Forgot, Target::Store, 40..50).polled(
                "ann",
                60..70,
                waiting(1, 1),
            ),
            right: left().suffered(Kind::Forgot, Target::Store, 40..50).polled(
                "ann",
                60..70,
                only(State::Gone),
            ),
        },
    ]
}
