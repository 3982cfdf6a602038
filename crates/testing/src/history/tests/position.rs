use super::{
    Case, Rule, Tale,
    tale::{inside, only, waiting},
};
use crate::history::{Kind, Op, State, Target};

pub(super) fn cases() -> Vec<Case> {
    rising().into_iter().chain(bounds()).collect()
}

fn still() -> Tale {
    Tale::park(1, 3_600_000)
}

/// Three in line, of whom the last is asked about.
fn three() -> Tale {
    still()
        .joined("ann", 0..10, waiting(1, 1))
        .joined("bob", 20..30, waiting(2, 2))
        .joined("cid", 40..50, waiting(3, 3))
}

fn rising() -> Vec<Case> {
    // Cid is told two, which can be only if Ann or Bob has tried to leave.
    let tried = || {
        three()
            .lost(Op::Leave, "ann", 60..70)
            .polled("cid", 80..90, waiting(3, 2))
    };
    vec![
        Case {
            rule: Rule::W6,
            how: "a position rises between two nodes",
            wrong: tried().polled("cid", 100..110, waiting(3, 3)),
            right: tried().polled("cid", 100..110, waiting(3, 2)),
        },
        Case {
            rule: Rule::W6,
            how: "a picture is older than what its reader has seen",
            wrong: three().polled("cid", 60..70, waiting(3, 3).at_version(2)),
            right: three().polled("cid", 60..70, waiting(3, 3).at_version(3)),
        },
        Case {
            rule: Rule::W6,
            how: "the gate names a higher position than was told",
            wrong: tried().at_gate("cid", 100..110, {
                let mut told = only(State::Waiting);
                told.position = Some(3);
                told
            }),
            right: tried().at_gate("cid", 100..110, {
                let mut told = only(State::Waiting);
                told.position = Some(2);
                told
            }),
        },
    ]
}

fn bounds() -> Vec<Case> {
    let left = || three().left("ann", 60..70);
    let forgot = || {
        three()
            .joined("dot", 60..70, waiting(4, 4))
            .suffered(Kind::Forgot, Target::Store, 75..80)
    };
    let let_in = || {
        Tale::park(1, 1_000)
            .joined("ann", 0..10, inside(1, 5))
            .joined("bob", 20..30, waiting(2, 1))
            .joined("cid", 40..50, waiting(3, 2))
    };
    // Dot missed a turn and is back: Ann and Bob were let in, Cid is at the door too.
    let at_door = |ahead: u64| {
        let mut told = waiting(4, ahead + 1);
        told.before_line = Some(true);
        let_in()
            .with_presence()
            .joined("dot", 60..70, waiting(4, 3))
            .polled("bob", 2_000..2_010, inside(2, 1_005))
            .polled("dot", 3_000..3_010, told)
    };
    vec![
        Case {
            rule: Rule::W7,
            how: "somebody who is inside is counted at the door",
            wrong: at_door(2),
            right: at_door(1),
        },
        Case {
            rule: Rule::W7,
            how: "somebody who has left is counted",
            wrong: left().polled("cid", 80..90, waiting(3, 3)),
            right: left().polled("cid", 80..90, waiting(3, 3).pictured_at(65)),
        },
        Case {
            rule: Rule::W7,
            how: "somebody who is inside is counted",
            wrong: let_in().joined("dot", 60..70, waiting(4, 4)),
            right: let_in().joined("dot", 60..70, waiting(4, 3)),
        },
        Case {
            rule: Rule::W7,
            how: "somebody who is in line is not counted",
            wrong: three().joined("dot", 60..70, waiting(4, 2)).polled(
                "bob",
                80..90,
                waiting(2, 2),
            ),
            right: three()
                .lost(Op::Leave, "cid", 55..57)
                .joined("dot", 60..70, waiting(4, 2))
                .polled("bob", 80..90, waiting(2, 2)),
        },
        Case {
            rule: Rule::W7,
            how: "a store that has forgotten moves somebody up",
            wrong: forgot().polled("dot", 2_090..2_100, waiting(4, 2)).polled(
                "bob",
                2_110..2_120,
                waiting(2, 2),
            ),
            right: forgot().polled("dot", 2_090..2_100, waiting(4, 4)).polled(
                "bob",
                2_110..2_120,
                waiting(2, 2),
            ),
        },
        Case {
            rule: Rule::W7,
            how: "a master shows a line of its own for longer than its lease",
            wrong: forgot().polled("dot", 2_090..2_100, waiting(4, 2)).polled(
                "bob",
                2_110..2_120,
                waiting(2, 2),
            ),
            // What was shown within the lease is shown again.
            right: forgot()
                .polled("dot", 90..100, waiting(4, 2))
                .polled("dot", 2_090..2_100, waiting(4, 2))
                .polled("bob", 2_110..2_120, waiting(2, 2)),
        },
    ]
}
