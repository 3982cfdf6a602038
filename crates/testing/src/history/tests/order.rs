use super::{
    Case, Rule, Tale,
    tale::{inside, waiting},
};
use crate::history::{Kind, Op, Target};

pub(super) fn cases() -> Vec<Case> {
    joins().into_iter().chain(turns()).collect()
}

fn joins() -> Vec<Case> {
    let still = || Tale::park(1, 3_600_000);
    vec![
        Case {
            rule: Rule::W4,
            how: "who asked after another was answered is ahead of them",
            wrong: still()
                .joined("ann", 0..10, waiting(2, 2))
                .joined("bob", 11..20, waiting(1, 1)),
            right: still()
                .joined("ann", 0..10, waiting(2, 2))
                .joined("bob", 9..20, waiting(1, 1)),
        },
        Case {
            rule: Rule::W4,
            how: "an inversion with others between",
            wrong: still()
                .joined("ann", 0..100, waiting(1, 1))
                .joined("bob", 50..60, waiting(2, 2))
                .joined("cid", 0..70, waiting(3, 3))
                .joined("dot", 0..49, waiting(4, 4)),
            // Dot's answer comes late, but the first attempt of Bob may have made the place.
            right: still()
                .joined("ann", 0..100, waiting(1, 1))
                .lost(Op::Join, "bob", 30..40)
                .joined("bob", 50..60, waiting(2, 2))
                .joined("cid", 0..70, waiting(3, 3))
                .joined("dot", 0..49, waiting(4, 4)),
        },
    ]
}

/// Ann and Bob wait until the two who are inside leave; then Bob comes in.
fn overtaken(at: u64) -> Tale {
    let leave = at - 20..at - 10;
    Tale::bank(2)
        .with_presence()
        .joined("yan", 0..1, inside(1, 1))
        .joined("zoe", 2..3, inside(2, 3))
        .joined("ann", 5..10, waiting(3, 1))
        .joined("bob", 20..30, waiting(4, 2))
        .left("yan", leave.clone())
        .left("zoe", leave)
        .polled("bob", at + 50..at + 60, inside(4, at))
}

fn turns() -> Vec<Case> {
    let waits = |tale: Tale, at: u64| tale.polled("ann", at..at + 10, waiting(3, 1));
    let forgot_later = |tale: Tale| tale.suffered(Kind::Forgot, Target::Store, 5_100..5_200);
    let forgot = |tale: Tale| tale.suffered(Kind::Forgot, Target::Store, 40..50);
    vec![
        Case {
            rule: Rule::W5,
            how: "somebody who is there is overtaken",
            wrong: waits(overtaken(5_000), 5_500),
            right: waits(overtaken(5_000), 4_900),
        },
        Case {
            rule: Rule::W5,
            how: "somebody is overtaken, as only the times of their admissions show",
            wrong: overtaken(5_000).polled("ann", 5_070..5_080, inside(3, 5_065)),
            right: overtaken(5_000).polled("ann", 5_070..5_080, inside(3, 5_010)),
        },
        Case {
            rule: Rule::W5,
            how: "somebody is overtaken whom a node has heard of in time",
            wrong: waits(waits(overtaken(15_000), 8_000), 15_500).killed(1, 8_500..8_600),
            // The node died before it could pass that on.
            right: waits(waits(overtaken(15_000), 8_000), 15_500).killed(0, 8_500..8_600),
        },
        Case {
            rule: Rule::W5,
            how: "a store that has forgotten lets a later one in first",
            wrong: waits(waits(forgot(overtaken(5_000)), 1_000), 5_500),
            // Ann has not been heard of since.
            right: waits(forgot(overtaken(5_000)), 5_500),
        },
        Case {
            rule: Rule::W5,
            how: "somebody is overtaken long after the store has forgotten",
            wrong: waits(waits(forgot(overtaken(5_000)), 200), 5_500),
            // Ann may have been let in before it forgot, and is at the door.
            right: waits(waits(forgot_later(overtaken(5_000)), 200), 5_500),
        },
    ]
}
