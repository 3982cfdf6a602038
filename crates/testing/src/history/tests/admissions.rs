use super::{
    Case, Rule, Tale,
    tale::{inside, only, waiting},
};
use crate::history::{Kind, State, Target};

pub(super) fn cases() -> Vec<Case> {
    let ann = || Tale::bank(1).joined("ann", 0..10, inside(1, 5));
    let waits = || Tale::bank(1).joined("ann", 0..10, waiting(1, 1));
    let seen_inside = || waits().at_gate("ann", 20..30, only(State::Inside));
    let crash = |tale: Tale| tale.suffered(Kind::Killed, Target::Store, 1_000..1_900);
    vec![
        Case {
            rule: Rule::A3,
            how: "who was inside waits again",
            wrong: seen_inside().polled("ann", 2_000..2_010, waiting(1, 1)),
            right: seen_inside()
                .suffered(Kind::Forgot, Target::Store, 1_000..1_100)
                .polled("ann", 2_000..2_010, waiting(1, 1)),
        },
        Case {
            rule: Rule::A3,
            how: "somebody is let in twice",
            wrong: ann().polled("ann", 2_000..2_010, inside(1, 1_500)),
            // While the server was down, room time stood still.
            right: crash(ann()).polled("ann", 2_000..2_010, inside(1, 905)),
        },
        Case {
            rule: Rule::A3,
            how: "the gate opens for who never joined",
            wrong: waits().at_gate("bob", 20..30, only(State::Inside)),
            right: waits().at_gate("ann", 20..30, only(State::Inside)),
        },
        Case {
            rule: Rule::A3,
            how: "somebody was let in while they still waited",
            wrong: waits().polled("ann", 1_500..1_510, waiting(1, 1)).polled(
                "ann",
                1_600..1_610,
                inside(1, 400),
            ),
            right: waits()
                .polled("ann", 1_500..1_510, waiting(1, 1).pictured_at(300))
                .polled("ann", 1_600..1_610, inside(1, 400)),
        },
    ]
}
