//! What a run is to do.

use std::time::Duration;

use serde::Serialize;

use super::schedule::Schedule;
use crate::{failure::Failure, load::script::Inside, units::Spans};

/// Each visitor and each arrival is remembered until the end.
const ARRIVALS_MAX: usize = 20_000_000;
const VISITORS_MAX: usize = 5_000_000;

#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub(crate) scenario: Scenario,
    pub(crate) schedule: Schedule,
    pub(crate) errand: Errand,
    /// How many have a place in the end.
    pub(crate) visitors: usize,
    /// When it is to be over, whoever is still there.
    pub(crate) until: Option<Duration>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Scenario {
    Herd,
    Poll,
    Journey,
    Ramp,
}

/// What somebody does who arrives.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Errand {
    /// Joins and waits.
    Join,
    /// Asks for the status of one of those who joined before.
    Poll,
    /// Joins, waits, enters and does what one does inside.
    Journey {
        inside: Inside,
        stay: Spans,
        seed: u64,
    },
}

impl Plan {
    /// The plan, unless it is too large or nothing at all.
    pub(super) fn checked(self) -> Result<Self, Failure> {
        let arrivals = self.schedule.len();
        if arrivals == 0 {
            let text = "nobody would come: raise the rate or the duration";
            return Err(Failure::Usage(text.into()));
        }
        if arrivals > ARRIVALS_MAX || self.visitors > VISITORS_MAX {
            return Err(Failure::Usage(format!(
                "{arrivals} arrivals of {} visitors are too many: at most {ARRIVALS_MAX} of {VISITORS_MAX}",
                self.visitors
            )));
        }
        Ok(self)
    }

    pub(super) fn buys(&self) -> bool {
        matches!(
            self.errand,
            Errand::Journey {
                inside: Inside::BuysSeat,
                ..
            }
        )
    }
}
