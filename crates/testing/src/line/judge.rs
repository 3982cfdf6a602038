//! The promises, checked after every step.

use std::{fmt, sync::Arc};

use ropeline_core::{
    Command, Departure, Ending, Holder, Joined, Live, Located, Ordinal, Policy, Reply, Standing,
    Tick, Timestamp, View,
};

use super::{Suffered, new_places};

/// What was seen of a line at one moment: the view, and where each token's holder stands.
#[derive(Debug, Clone)]
pub struct Observation {
    /// The picture that visitors are shown.
    pub view: View,
    /// By ordinal, from 1.
    pub standings: Vec<Standing>,
    /// What the visitors are told from the view, likewise.
    pub located: Vec<Located>,
}

/// A token in somebody's hands, and what its holder was last shown.
#[derive(Debug, Clone)]
pub struct Token {
    /// Whose, and which place.
    pub holder: Holder,
    /// Where it stood; unknown until the first look.
    pub standing: Standing,
    /// How many were ahead; never more than before.
    pub ahead: Option<u64>,
    /// Whether it was ever inside.
    pub was_inside: bool,
    /// When its holder was last heard of, as far as the line must still know.
    pub seen_at: Option<Timestamp>,
    /// Whether a join was answered with it after an import had given it.
    pub claimed: bool,
}

/// What was done since the last look.
#[derive(Debug, Default)]
enum Cause {
    #[default]
    Time,
    Command(Command),
    Suffering,
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
    cause: Cause,
    looked_at: Timestamp,
    policy: Option<Arc<Policy>>,
    /// When another policy was first seen.
    policy_since: Timestamp,
}

impl Judge {
    /// The tokens given out so far, by ordinal.
    pub fn tokens(&self) -> &[Token] {
        &self.tokens
    }

    /// A token, picked by any number: one in four of those that missed their turn, one in four of those
    /// inside, one in four of the live ones, while there are any.
    pub fn token(&self, at: usize) -> Option<&Token> {
        let wanted = |standing: &Standing| match (at % 4, standing) {
            (0, _) | (1, Standing::Live(_)) => true,
            (2, Standing::Live(live)) => matches!(live, Live::Inside(_)),
            (3, Standing::Live(live)) => matches!(live, Live::Aside(_) | Live::AtDoor),
            _ => false,
        };
        let mut pool: Vec<_> = self.tokens.iter().filter(|t| wanted(&t.standing)).collect();
        if pool.is_empty() {
            pool = self.tokens.iter().collect();
        }
        pool.get((at / 4).checked_rem(pool.len())?).copied()
    }

    /// Something went wrong. Presence and renewals may be forgotten; where writes were lost, places may be
    /// missing until those concerned ask again.
    pub fn suffered(&mut self, what: Suffered) {
        if what == Suffered::LostWrites {
            self.lost_up_to = self.tokens.len() as u64;
            // The room may be back in a tick that began under another policy.
            self.tick = None;
        }
        for token in &mut self.tokens {
            token.seen_at = None;
        }
        self.cause = Cause::Suffering;
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
            self.tokens.push(Token {
                holder,
                standing: Standing::Unknown,
                ahead: None,
                was_inside: false,
                seen_at: None,
                claimed: false,
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
            (Command::Join(joiners), Reply::Joined(joined)) => {
                for (joiner, joined) in joiners.iter().zip(joined) {
                    let (Joined::Already(at) | Joined::Repeated(at) | Joined::Claimed(at)) = joined
                    else {
                        continue;
                    };
                    let own =
                        |t: &Token| t.holder.ordinal == *at && t.holder.visitor == joiner.visitor;
                    ensure(
                        self.tokens.iter().any(own),
                        "a second join is answered with the visitor's own place",
                        || format!("{:?}: {joined:?}", joiner.visitor),
                    )?;
                    if matches!(joined, Joined::Claimed(_)) {
                        self.claim(*at)?;
                    }
                }
            }
            _ => {}
        }
        self.cause = Cause::Command(command.clone());
        Ok(())
    }

    /// An imported place goes to the first join, and to no other.
    fn claim(&mut self, ordinal: Ordinal) -> Result<(), Violation> {
        let lossy = ordinal.0 <= self.lost_up_to;
        let token = self.tokens.iter_mut().find(|t| t.holder.ordinal == ordinal);
        let again = token.is_some_and(|token| std::mem::replace(&mut token.claimed, true));
        ensure(!again || lossy, "a place is claimed once", || {
            format!("{ordinal} was claimed before")
        })
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
        self.order(seen)?;
        self.one_state_each(seen)?;
        self.ranks(seen)?;
        self.note_presence(view);
        self.reasons(seen)?;
        self.passes(seen)?;
        self.history(seen)?;
        self.one_place_each(seen)?;
        self.limits(seen)?;
        self.version = view.header.version;
        self.inside = view.inside;
        self.tick = Some(view.header.tick);
        self.looked_at = view.as_of;
        self.cause = Cause::Time;
        Ok(())
    }

    /// The line is served in the order of its ordinals, which is the order of acknowledged joins.
    fn order(&self, seen: &Observation) -> Result<(), Violation> {
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
    fn one_state_each(&self, seen: &Observation) -> Result<(), Violation> {
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

    /// Takes down who was heard of, and since when the policy is what it is.
    fn note_presence(&mut self, view: &View) {
        if self.policy.as_ref() != Some(&view.header.policy) {
            self.policy = Some(Arc::clone(&view.header.policy));
            self.policy_since = view.as_of;
        }
        for token in &mut self.tokens {
            let heard_of = match &self.cause {
                Cause::Command(Command::Mark(ordinals)) => ordinals.contains(&token.holder.ordinal),
                Cause::Command(Command::Renew(holders) | Command::Restore(holders)) => {
                    holders.contains(&token.holder)
                }
                _ => false,
            };
            if heard_of || token.standing == Standing::Unknown {
                token.seen_at = Some(view.as_of);
            }
        }
    }

    /// Nobody loses a turn or a place without a reason.
    fn reasons(&self, seen: &Observation) -> Result<(), Violation> {
        for (token, standing) in self.tokens.iter().zip(&seen.standings) {
            let was = token.standing;
            let aside = |standing: &Standing| matches!(standing, Standing::Live(Live::Aside(_)));
            let missed = aside(standing) && !aside(&was);
            ensure(
                !missed || self.may_be_absent(token, &seen.view),
                "who is there is not stepped over",
                || format!("{}: {was:?} then {standing:?}", token.holder.ordinal),
            )?;
            let (Standing::Live(live), Standing::Ended(ending)) = (was, standing) else {
                continue;
            };
            ensure(
                self.may_end(token, live, *ending, &seen.view),
                "a place ends only by its holder, an operator or time",
                || format!("{}: {was:?} then {standing:?}", token.holder.ordinal),
            )?;
        }
        Ok(())
    }

    /// Two whole rounds pass before somebody who was heard of is taken for absent.
    fn may_be_absent(&self, token: &Token, view: &View) -> bool {
        let ttl = view.header.policy.presence_ttl;
        let surely_there = |at: Timestamp| at > self.policy_since && view.as_of.since(at) < ttl;
        let absent = !ttl.is_zero() && !token.seen_at.is_some_and(surely_there);
        // A store that went back is where it was before somebody came to the door.
        absent || matches!(self.cause, Cause::Suffering)
    }

    fn may_end(&self, token: &Token, live: Live, ending: Ending, view: &View) -> bool {
        let Holder { visitor, .. } = &token.holder;
        let policy = &view.header.policy;
        let elapsed = view.as_of.since(self.looked_at);
        let lossy = self.lost_up_to > 0;
        let by_command = match &self.cause {
            Cause::Command(Command::Leave(by) | Command::Finish(by)) => *by == token.holder,
            Cause::Command(Command::Revoke(whom)) => whom == visitor,
            Cause::Command(Command::Renew(holders) | Command::Restore(holders)) => {
                lossy && holders.iter().any(|other| other.visitor == *visitor)
            }
            Cause::Command(Command::Merge(_)) => lossy,
            Cause::Command(Command::Reset) | Cause::Suffering => true,
            Cause::Command(_) | Cause::Time => false,
        };
        let by_time = match (live, ending) {
            (Live::Inside(pass), Ending::Done) => pass.expires_at <= view.as_of,
            (Live::Aside(until), Ending::Gone) => until <= view.as_of,
            (Live::Inside(_), Ending::Gone) => false,
            // Stepped over, or let in, and ended since the last look.
            (_, Ending::Gone) => {
                elapsed >= policy.missed_turn_ttl && self.may_be_absent(token, view)
            }
            (_, Ending::Done) => elapsed >= policy.pass_ttl,
        };
        by_command || by_time
    }

    /// A pass is given and renewed for as long as the policy says, and only while it lasts.
    fn passes(&self, seen: &Observation) -> Result<(), Violation> {
        let (policy, now) = (&seen.view.header.policy, seen.view.as_of);
        for (token, standing) in self.tokens.iter().zip(&seen.standings) {
            let Standing::Live(Live::Inside(pass)) = standing else {
                continue;
            };
            let before = match token.standing {
                Standing::Live(Live::Inside(before)) => before.expires_at,
                _ => Timestamp(0),
            };
            if pass.expires_at <= before || matches!(self.cause, Cause::Suffering) {
                continue;
            }
            let words = || format!("{}: {before:?} then {pass:?}", token.holder.ordinal);
            let expired = before != Timestamp(0) && before <= now;
            ensure(!expired, "an expired pass is never renewed", words)?;
            let longest = pass.since + policy.pass_max;
            ensure(
                pass.expires_at <= now + policy.pass_ttl
                    && (policy.pass_max.is_zero() || pass.expires_at <= longest),
                "a pass lasts no longer than the policy says",
                words,
            )?;
        }
        Ok(())
    }

    /// What happened to a place cannot be undone: nobody is admitted twice, nobody ended comes back.
    fn history(&mut self, seen: &Observation) -> Result<(), Violation> {
        let lossy = self.lost_up_to > 0;
        for (token, standing) in self.tokens.iter_mut().zip(&seen.standings) {
            let ordinal = token.holder.ordinal;
            let inside = matches!(standing, Standing::Live(Live::Inside(_)));
            let was_inside_before = token.was_inside
                && !matches!(token.standing, Standing::Live(Live::Inside(_)))
                && inside;
            ensure(
                !was_inside_before || lossy,
                "nobody is admitted twice",
                || format!("{ordinal}: {:?} then {standing:?}", token.standing),
            )?;
            let back = matches!(token.standing, Standing::Ended(_)) && token.standing != *standing;
            ensure(!back, "an ended place stays as it ended", || {
                format!("{ordinal}: {:?} then {standing:?}", token.standing)
            })?;
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
        // Who was inside elsewhere is counted, and takes nothing of the batch.
        let imported = matches!(self.cause, Cause::Command(Command::Import { .. }));
        let before = match self.tick {
            Some(before) if before.start == tick.start && imported => {
                before.admitted + (tick.extra - before.extra)
            }
            Some(before) if before.start == tick.start => before.admitted,
            Some(_) => 0,
            None => tick.admitted,
        };
        ensure(
            tick.admitted <= batch.max(before),
            "never more per tick than the batch",
            || format!("{} admitted, batch {batch}", tick.admitted),
        )?;
        let entered = seen.standings.iter().filter(|standing| {
            let Standing::Live(Live::Inside(pass)) = standing else {
                return false;
            };
            // Another policy may have begun another tick.
            pass.since >= tick.start && pass.since > self.policy_since
        });
        let entered = entered.count() as u64;
        ensure(
            entered <= tick.admitted,
            "every admission counts in its tick",
            || format!("{entered} entered, {} counted", tick.admitted),
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
