//! The cap and the batch.

use ropeline_core::{Command, Live, Standing};

use super::{Cause, Judge, Observation, Violation, ensure};

impl Judge {
    /// The cap and the batch hold, and nothing of them is left while somebody waits.
    pub(super) fn limits(&self, seen: &Observation) -> Result<(), Violation> {
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
            Some(_) if !matches!(self.cause, Cause::Suffering) => 0,
            // A store that went back is in a tick of which nothing is known here, perhaps under another policy.
            _ => tick.admitted,
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
            && view.as_of >= header.admission_held_until
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
