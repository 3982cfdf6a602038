//! How long a pass lasts, and that nobody has a second one.

use ropeline_core::{Live, Standing, Timestamp};

use super::{Cause, Judge, Observation, Violation, ensure};

impl Judge {
    /// A pass is given and renewed for as long as the policy says, and only while it lasts.
    pub(super) fn passes(&self, seen: &Observation) -> Result<(), Violation> {
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
                pass.expires_at <= (now + policy.pass_ttl).max(token.kept_until)
                    && (policy.pass_max.is_zero() || pass.expires_at <= longest),
                "a pass lasts no longer than the policy says",
                words,
            )?;
        }
        Ok(())
    }

    /// What happened to a place cannot be undone: nobody is admitted twice, nobody ended comes back.
    pub(super) fn history(&mut self, seen: &Observation) -> Result<(), Violation> {
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
                    Standing::Live(Live::InLine | Live::Aside(_) | Live::AtDoor { .. })
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
}
