use super::{Case, Rule, Tale, tale::inside};
use crate::history::{Kind, Target};

/// Each of these moments sees as many come in as are named, who join at that moment.
fn entries(mut tale: Tale, entries: &[(u64, u64)]) -> Tale {
    let mut ordinal = 0;
    for (at, count) in entries {
        for _ in 0..*count {
            ordinal += 1;
            let pass = inside(ordinal, *at);
            let span = at - 1..at + ordinal;
            tale = tale.joined(&format!("visitor-{ordinal}"), span, pass);
        }
    }
    tale
}

fn park() -> Tale {
    Tale::park(2, 1_000)
}

fn down(tale: Tale, at: std::ops::Range<u64>) -> Tale {
    tale.suffered(Kind::Killed, Target::Store, at)
}

pub(super) fn cases() -> Vec<Case> {
    vec![
        Case {
            rule: Rule::A2,
            how: "three batches within a tick",
            // Some of them perhaps before the outage was over, so that no other rule is concerned.
            wrong: down(entries(park(), &[(6_000, 5)]), 10..6_000),
            right: down(entries(park(), &[(6_000, 4)]), 10..6_000),
        },
        Case {
            rule: Rule::A4,
            how: "a tick is spent twice",
            wrong: entries(
                park(),
                &[(100, 1), (900, 1), (1_130, 2), (2_160, 3), (3_190, 2)],
            ),
            right: entries(
                park(),
                &[(100, 1), (900, 1), (1_130, 2), (2_160, 2), (3_190, 2)],
            ),
        },
        Case {
            rule: Rule::A5,
            how: "an outage is made up for",
            wrong: down(
                entries(
                    park(),
                    &[(1_400, 2), (5_600, 1), (5_900, 2), (6_590, 1), (6_700, 1)],
                ),
                1_500..5_500,
            ),
            right: down(
                entries(
                    park(),
                    &[(1_400, 2), (5_600, 1), (5_900, 1), (6_590, 1), (6_700, 1)],
                ),
                1_500..5_500,
            ),
        },
    ]
}
