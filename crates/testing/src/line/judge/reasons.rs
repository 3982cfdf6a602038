//! Why somebody lost a turn or a place.

use std::sync::Arc;

use ropeline_core::{Command, Ending, Holder, Live, Standing, Timestamp, View};

use super::{Cause, Judge, Observation, Token, Violation, ensure};

impl Judge {
    /// Takes down who was heard of, and since when the policy is what it is.
    pub(super) fn note_presence(&mut self, view: &View) {
        if self.policy.as_ref() != Some(&view.header.policy) {
            self.policy = Some(Arc::clone(&view.header.policy));
            self.policy_since = view.as_of;
        }
        for token in &mut self.tokens {
            let heard_of = match &self.cause {
                Cause::Command(Command::Mark(ordinals)) => ordinals.contains(&token.holder.ordinal),
                Cause::Command(
                    Command::Renew(holders) | Command::Restore(holders) | Command::Retell(holders),
                ) => holders.contains(&token.holder),
                _ => false,
            };
            if let Cause::Command(Command::Keep { holder, business }) = &self.cause
                && *holder == token.holder
            {
                token.kept_until = token.kept_until.max(view.as_of + *business);
            }
            if heard_of || token.standing == Standing::Unknown {
                token.seen_at = Some(view.as_of);
            }
        }
    }

    /// Nobody loses a turn or a place without a reason.
    pub(super) fn reasons(&self, seen: &Observation) -> Result<(), Violation> {
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
    pub(super) fn may_be_absent(&self, token: &Token, view: &View) -> bool {
        let ttl = view.header.policy.presence_ttl;
        let surely_there = |at: Timestamp| at > self.policy_since && view.as_of.since(at) < ttl;
        let absent = !ttl.is_zero() && !token.seen_at.is_some_and(surely_there);
        // A store that went back is where it was before somebody came to the door.
        absent || matches!(self.cause, Cause::Suffering)
    }

    pub(super) fn may_end(&self, token: &Token, live: Live, ending: Ending, view: &View) -> bool {
        let Holder { visitor, .. } = &token.holder;
        let policy = &view.header.policy;
        let elapsed = view.as_of.since(self.looked_at);
        let lossy = self.lost_up_to > 0;
        let by_command = match &self.cause {
            Cause::Command(Command::Leave(by) | Command::Finish(by)) => *by == token.holder,
            Cause::Command(Command::Revoke(whom)) => whom == visitor,
            Cause::Command(
                Command::Renew(holders) | Command::Restore(holders) | Command::Retell(holders),
            ) => lossy && holders.iter().any(|other| other.visitor == *visitor),
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
}
