use super::{
    Case, Rule, Tale,
    tale::{inside, waiting},
};
use crate::history::{Counts, Kind, Op, Target};

pub(super) fn cases() -> Vec<Case> {
    [conserved(), capped(), idle()]
        .into_iter()
        .flatten()
        .collect()
}

const COUNTS: Counts = Counts {
    issued: 2,
    waiting: 1,
    door: 0,
    aside: 0,
    active: 1,
    ended: 0,
    admitted: 1,
    departed: 0,
};

fn conserved() -> Vec<Case> {
    let two = || {
        Tale::bank(1)
            .joined("ann", 0..10, inside(1, 5))
            .joined("bob", 20..30, waiting(2, 1))
    };
    let audited = |tale: Tale, counts: Counts| {
        tale.audited(2_000..2_010, counts)
            .audited(3_100..3_110, counts)
    };
    let case = |how, counts| Case {
        rule: Rule::W8,
        how,
        wrong: audited(two(), counts),
        right: audited(two(), COUNTS),
    };
    vec![
        case(
            "the parts are not the whole",
            Counts {
                issued: 3,
                ..COUNTS
            },
        ),
        case(
            "an ordinal was given that is not counted",
            Counts {
                issued: 1,
                waiting: 0,
                ..COUNTS
            },
        ),
        case(
            "somebody is counted who never came",
            Counts {
                issued: 3,
                waiting: 2,
                ..COUNTS
            },
        ),
        case(
            "somebody who is here counts as ended",
            Counts {
                waiting: 0,
                ended: 1,
                ..COUNTS
            },
        ),
        case(
            "somebody was let in twice",
            Counts {
                admitted: 2,
                ..COUNTS
            },
        ),
        case(
            "somebody who is inside was never let in",
            Counts {
                waiting: 2,
                active: 0,
                admitted: 0,
                ..COUNTS
            },
        ),
        case(
            "somebody who is inside counts as waiting",
            Counts {
                waiting: 2,
                active: 0,
                ..COUNTS
            },
        ),
        Case {
            rule: Rule::W8,
            how: "somebody who has left is still counted",
            wrong: audited(two().left("bob", 40..50), COUNTS),
            // While somebody asks for something, the figures may be behind.
            right: audited(two().left("bob", 40..50), COUNTS).lost(Op::Poll, "bob", 2_500..2_510),
        },
        Case {
            rule: Rule::W8,
            how: "a join without an answer accounts for one, not for two",
            wrong: audited(
                two().lost(Op::Join, "cid", 40..50),
                Counts {
                    issued: 4,
                    waiting: 3,
                    ..COUNTS
                },
            ),
            right: audited(
                two().lost(Op::Join, "cid", 40..50),
                Counts {
                    issued: 3,
                    waiting: 2,
                    ..COUNTS
                },
            ),
        },
    ]
}

fn capped() -> Vec<Case> {
    let ann = || Tale::bank(1).joined("ann", 0..10, inside(1, 5));
    vec![
        Case {
            rule: Rule::A1,
            how: "two are inside where one may be",
            wrong: ann().joined("bob", 5_000..5_010, inside(2, 5_005)),
            right: ann().lost(Op::Leave, "ann", 4_000..4_010).joined(
                "bob",
                5_000..5_010,
                inside(2, 5_005),
            ),
        },
        Case {
            rule: Rule::A1,
            how: "a pass that was renewed counts for as long as it lasts",
            wrong: ann()
                .at_gate(
                    "ann",
                    9_000..9_010,
                    super::tale::only(crate::history::State::Inside),
                )
                .joined("bob", 12_000..12_010, inside(2, 12_005)),
            // Renewals may be forgotten in a crash.
            right: ann()
                .at_gate(
                    "ann",
                    9_000..9_010,
                    super::tale::only(crate::history::State::Inside),
                )
                .suffered(Kind::Killed, Target::Store, 9_500..9_900)
                .joined("bob", 12_000..12_010, inside(2, 12_005)),
        },
        Case {
            rule: Rule::A1,
            how: "an operator is told of more than the cap",
            wrong: ann().audited(
                20..30,
                Counts {
                    active: 2,
                    waiting: 0,
                    ..COUNTS
                },
            ),
            right: ann().audited(20..30, COUNTS),
        },
    ]
}

fn idle() -> Vec<Case> {
    let ann = || {
        Tale::bank(2)
            .with_presence()
            .joined("ann", 0..10, inside(1, 5))
            .joined("bob", 20..30, waiting(2, 1))
    };
    let bob_waits = |tale: Tale| tale.polled("bob", 4_000..4_010, waiting(2, 1));
    let park = |batch| {
        Tale::park(batch, 1_000)
            .joined("ann", 0..10, inside(1, 5))
            .joined("bob", 20..30, waiting(2, 1))
            .polled("bob", 900..910, waiting(2, 1))
            .polled("bob", 2_000..2_010, inside(2, 1_001))
            .joined("cid", 40..50, waiting(3, 2))
            .polled("cid", 4_500..4_510, waiting(3, 1))
    };
    vec![
        Case {
            rule: Rule::A6,
            how: "a slot is free and somebody waits",
            wrong: bob_waits(ann()),
            // Cid's join may have been done.
            right: bob_waits(ann().lost(Op::Join, "cid", 12..14)),
        },
        Case {
            rule: Rule::A6,
            how: "a slot stays free after an outage",
            wrong: bob_waits(ann())
                .killed(0, 50..60)
                .polled("bob", 6_000..6_010, waiting(2, 1)),
            right: bob_waits(ann()).killed(0, 1_000..1_500),
        },
        Case {
            rule: Rule::A6,
            how: "a tick is not spent",
            wrong: park(2),
            right: park(1)
                .polled("bob", 2_100..2_110, inside(2, 1_001))
                .polled("cid", 4_600..4_610, waiting(3, 1))
                .joined("dot", 2_200..2_210, waiting(4, 2))
                .polled("dot", 2_300..2_310, waiting(4, 2)),
        },
    ]
}
