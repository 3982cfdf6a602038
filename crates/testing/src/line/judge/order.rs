//! Where everybody is: in order, in one state, at one place, with the true rank.

use ropeline_core::{Ending, Live, Located, Standing};

use super::{Judge, Observation, Violation, ensure};

impl Judge {
    /// The line is served in the order of its ordinals, which is the order of acknowledged joins.
    pub(super) fn order(&self, seen: &Observation) -> Result<(), Violation> {
        let mut waits = None;
        for (token, standing) in self.tokens.iter().zip(&seen.standings) {
            let ordinal = token.holder.ordinal;
            let served = match standing {
                Standing::Live(live) => *live != Live::InLine,
                Standing::Ended(ending) => *ending == Ending::Done,
                _ => false,
            };
            ensure(
                !served || waits.is_none(),
                "nobody in line is overtaken",
                || format!("{ordinal} is {standing:?}, {waits:?} still waits"),
            )?;
            if *standing == Standing::Live(Live::InLine) {
                waits = Some(ordinal);
            }
        }
        Ok(())
    }

    /// Each ordinal is in exactly one of the six states, and the view agrees.
    pub(super) fn one_state_each(&self, seen: &Observation) -> Result<(), Violation> {
        let (mut inside, mut aside, mut door) = (0, 0, 0);
        for (at, (token, standing)) in self.tokens.iter().zip(&seen.standings).enumerate() {
            let ordinal = token.holder.ordinal;
            let located = seen.located[at];
            let agree = match standing {
                Standing::Live(Live::InLine) => matches!(located, Located::InLine { .. }),
                Standing::Live(_) => located == Located::PassedBy,
                // A pass that ran out is over even before it was swept.
                Standing::Ended(Ending::Done) => {
                    matches!(located, Located::Ended(Ending::Done) | Located::PassedBy)
                }
                Standing::Ended(Ending::Gone) => located == Located::Ended(Ending::Gone),
                Standing::Lost => ordinal.0 <= self.lost_up_to,
                Standing::Unknown => false,
            };
            ensure(
                agree,
                "every ordinal is in exactly one of six states",
                || format!("{ordinal} stands {standing:?}, the view says {located:?}"),
            )?;
            match standing {
                Standing::Live(Live::Inside(_)) => inside += 1,
                Standing::Live(Live::Aside(_)) => aside += 1,
                Standing::Live(Live::AtDoor { before }) => {
                    ensure(
                        *before == door,
                        "everybody at the door knows how many are before them",
                        || format!("{ordinal} is told {before}, it is {door}"),
                    )?;
                    door += 1;
                }
                _ => {}
            }
        }
        let counts = (seen.view.inside, seen.view.aside, seen.view.door);
        ensure(
            counts == (inside, aside, door),
            "the counts are right",
            || format!("{counts:?}, counted {:?}", (inside, aside, door)),
        )
    }

    /// `ahead` is the true rank, and never rises for anybody.
    pub(super) fn ranks(&mut self, seen: &Observation) -> Result<(), Violation> {
        let lossy = self.lost_up_to > 0;
        let in_line = |standing: &Standing| *standing == Standing::Live(Live::InLine);
        let total = seen
            .standings
            .iter()
            .filter(|standing| in_line(standing))
            .count() as u64;
        let mut rank = 0;
        for (at, token) in self.tokens.iter_mut().enumerate() {
            let standing = &seen.standings[at];
            let ahead = match seen.located[at] {
                Located::InLine { ahead, behind } if in_line(standing) => {
                    let exact = ahead == rank && behind == total - rank - 1;
                    ensure(exact || lossy, "ahead and behind are the true rank", || {
                        format!(
                            "{}: {ahead}/{behind}, rank {rank} of {total}",
                            token.holder.ordinal
                        )
                    })?;
                    rank += 1;
                    Some(ahead)
                }
                Located::PassedBy => Some(0),
                _ => token.ahead,
            };
            let risen = token
                .ahead
                .zip(ahead)
                .is_some_and(|(before, now)| now > before);
            ensure(!risen, "ahead never rises", || {
                format!("{}: {:?} then {ahead:?}", token.holder.ordinal, token.ahead)
            })?;
            token.ahead = ahead;
        }
        Ok(())
    }

    pub(super) fn one_place_each(&self, seen: &Observation) -> Result<(), Violation> {
        let mut live: Vec<_> = self
            .tokens
            .iter()
            .zip(&seen.standings)
            .filter(|(_, standing)| matches!(standing, Standing::Live(_)))
            .map(|(token, _)| token.holder.visitor.as_str())
            .collect();
        live.sort_unstable();
        let twice = live
            .windows(2)
            .find(|pair| pair[0] == pair[1])
            .map(|pair| pair[0]);
        ensure(twice.is_none(), "a visitor has at most one place", || {
            format!("{twice:?}")
        })
    }
}
