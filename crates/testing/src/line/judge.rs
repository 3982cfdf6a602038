//! The promises, checked after every step.

use std::fmt;

use ropeline_core::{
    Command, Departure, Ending, Holder, Live, Located, Ordinal, Reply, Standing, Tick, View,
};

use super::new_places;

/// What was seen of a line at one moment: the view, and where each token's holder stands.
#[derive(Debug, Clone)]
pub struct Observation {
    /// The picture that visitors are shown.
    pub view: View,
    /// By ordinal, from 1.
    pub standings: Vec<Standing>,
}

/// A token in somebody's hands, and what its holder was last shown.
#[derive(Debug, Clone)]
pub struct Token {
    /// Whose, and which place.
    pub holder: Holder,
    /// Where it stood.
    pub standing: Standing,
    /// How many were ahead; never more than before.
    pub ahead: Option<u64>,
    /// Whether it was ever inside.
    pub was_inside: bool,
}

/// A promise that was broken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The promise.
    pub promise: &'static str,
    /// What was seen instead.
    pub seen: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "broken: {}; seen: {}", self.promise, self.seen)
    }
}

/// Remembers what was promised to whom.
#[derive(Debug, Default)]
pub struct Judge {
    tokens: Vec<Token>,
    version: u64,
    inside: u64,
    tick: Option<Tick>,
    /// Ordinals at or below this were given before writes were lost.
    lost_up_to: u64,
}

impl Judge {
    /// The tokens given out so far, by ordinal.
    pub fn tokens(&self) -> &[Token] {
        &self.tokens
    }

    /// A token, picked by any number.
    pub fn token(&self, at: usize) -> Option<&Token> {
        self.tokens.get(at.checked_rem(self.tokens.len())?)
    }

    /// Writes were lost: until those concerned ask again, places may be missing.
    pub fn writes_were_lost(&mut self) {
        self.lost_up_to = self.tokens.len() as u64;
    }

    /// Listens to the answer to a command. `before` are the tokens as they stood.
    pub fn heard(
        &mut self,
        command: &Command,
        reply: &Reply,
        before: &[Token],
    ) -> Result<(), Violation> {
        for holder in new_places(command, reply) {
            let next = Ordinal(self.tokens.len() as u64 + 1);
            ensure(
                holder.ordinal == next,
                "ordinals have no gap and no duplicate",
                || format!("{} after {}", holder.ordinal, self.tokens.len()),
            )?;
            let standing = Standing::Live(Live::InLine);
            self.tokens.push(Token {
                holder,
                standing,
                ahead: None,
                was_inside: false,
            });
        }
        let ended = |holder: &Holder| {
            let at = usize::try_from(holder.ordinal.0).expect("small") - 1;
            before
                .get(at)
                .is_some_and(|token| matches!(token.standing, Standing::Ended(_)))
        };
        match (command, reply) {
            (Command::Renew(_) | Command::Restore(_), Reply::Standing(standings)) => {
                for (holder, standing) in standings {
                    let back = ended(holder) && !matches!(standing, Standing::Ended(_));
                    ensure(!back, "an ended place never comes back", || {
                        format!("{} is {standing:?}", holder.ordinal)
                    })?;
                }
            }
            (Command::Leave(holder) | Command::Finish(holder), Reply::Departed(departure)) => {
                ensure(
                    !ended(holder) || *departure == Departure::Nothing,
                    "an ended token does nothing",
                    || format!("{}: {departure:?}", holder.ordinal),
                )?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Judges what is seen after a step.
    pub fn look(&mut self, at: &'static str, seen: &Observation) -> Result<(), Violation> {
        let place = |violation: Violation| Violation {
            seen: format!("{} (at {at})", violation.seen),
            ..violation
        };
        self.judge(seen).map_err(place)
    }

    fn judge(&mut self, seen: &Observation) -> Result<(), Violation> {
        let view = &seen.view;
        ensure(
            view.header.version >= self.version,
            "the version never falls",
            || format!("{} after {}", view.header.version, self.version),
        )?;
        let issued = view.header.issued.0;
        ensure(
            issued == self.tokens.len() as u64,
            "every acknowledged place is counted",
            || {
                format!(
                    "issued is {issued}, {} were acknowledged",
                    self.tokens.len()
                )
            },
        )?;
        self.one_state_each(seen)?;
        self.ranks(seen)?;
        self.history(seen)?;
        self.one_place_each(seen)?;
        self.limits(seen)?;
        self.version = view.header.version;
        self.inside = view.inside;
        self.tick = Some(view.header.tick);
        Ok(())
    }

    /// Each ordinal is in exactly one of the six states, and the view agrees.
    fn one_state_each(&self, seen: &Observation) -> Result<(), Violation> {
        let (mut inside, mut aside, mut door) = (0, 0, 0);
        for (token, standing) in self.tokens.iter().zip(&seen.standings) {
            let ordinal = token.holder.ordinal;
            let located = seen.view.locate(ordinal);
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
                Standing::Live(Live::AtDoor) => door += 1,
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
    fn ranks(&mut self, seen: &Observation) -> Result<(), Violation> {
        let lossy = self.lost_up_to > 0;
        let in_line = |standing: &Standing| *standing == Standing::Live(Live::InLine);
        let total = seen
            .standings
            .iter()
            .filter(|standing| in_line(standing))
            .count() as u64;
        let mut rank = 0;
        for (token, standing) in self.tokens.iter_mut().zip(&seen.standings) {
            let ahead = match seen.view.locate(token.holder.ordinal) {
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

    /// What happened to a place cannot be undone: nobody is admitted twice, nobody ended comes back.
    fn history(&mut self, seen: &Observation) -> Result<(), Violation> {
        let lossy = self.lost_up_to > 0;
        for (token, standing) in self.tokens.iter_mut().zip(&seen.standings) {
            let ordinal = token.holder.ordinal;
            let back = matches!(token.standing, Standing::Ended(_)) && token.standing != *standing;
            ensure(!back, "an ended place stays as it ended", || {
                format!("{ordinal}: {:?} then {standing:?}", token.standing)
            })?;
            let inside = matches!(standing, Standing::Live(Live::Inside(_)));
            let was_inside_before = token.was_inside
                && !matches!(token.standing, Standing::Live(Live::Inside(_)))
                && inside;
            ensure(
                !was_inside_before || lossy,
                "nobody is admitted twice",
                || format!("{ordinal}: {:?} then {standing:?}", token.standing),
            )?;
            let waits_again = token.was_inside
                && matches!(
                    standing,
                    Standing::Live(Live::InLine | Live::Aside(_) | Live::AtDoor)
                );
            ensure(
                !waits_again || lossy,
                "who was inside does not wait again",
                || format!("{ordinal} is {standing:?}"),
            )?;
            token.was_inside |= inside;
            token.standing = *standing;
        }
        Ok(())
    }

    fn one_place_each(&self, seen: &Observation) -> Result<(), Violation> {
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

    /// The cap and the batch hold, and nothing of them is left while somebody waits.
    fn limits(&self, seen: &Observation) -> Result<(), Violation> {
        let (view, header) = (&seen.view, &seen.view.header);
        let cap = header.policy.active_max.unwrap_or(u64::MAX);
        // Lowering the cap puts nobody out, so more than the cap is fine while the number falls.
        ensure(
            view.inside <= cap.max(self.inside),
            "never more inside than the cap",
            || format!("{} inside, cap {cap}", view.inside),
        )?;
        let tick = header.tick;
        let batch = header
            .policy
            .batch
            .map_or(u64::MAX, |batch| batch.saturating_add(tick.extra));
        let same = self.tick.filter(|before| before.start == tick.start);
        let before = same.map_or(0, |before| before.admitted);
        ensure(
            tick.admitted <= batch.max(before),
            "never more per tick than the batch",
            || format!("{} admitted, batch {batch}", tick.admitted),
        )?;
        let budget = batch
            .saturating_sub(tick.admitted)
            .min(cap.saturating_sub(view.inside));
        let due = header.tick.start + header.policy.every;
        let idle = budget > 0
            && !header.paused
            && header.lost.is_none()
            && view.as_of < due
            && view.door + view.waiting() > 0;
        ensure(!idle, "no budget is left while somebody waits", || {
            format!(
                "budget {budget}, {} in line, {} at the door",
                view.waiting(),
                view.door
            )
        })
    }
}

fn ensure(
    kept: bool,
    promise: &'static str,
    seen: impl FnOnce() -> String,
) -> Result<(), Violation> {
    if kept {
        Ok(())
    } else {
        Err(Violation {
            promise,
            seen: seen(),
        })
    }
}
