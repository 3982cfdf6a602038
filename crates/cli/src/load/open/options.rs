//! What kind of load is wanted.

use std::time::Duration;

use clap::ValueEnum;

use super::{
    plan::{Errand, Plan, Scenario},
    schedule::Schedule,
};
use crate::{
    failure::Failure,
    load::{script::Inside, target::Target},
    units::{Spans, span, spans},
};

/// Everybody joins at once, on a fixed schedule.
///
/// Joins are sent on a fixed schedule, however slowly they are answered, and their latency counts from when they were
/// to be sent: a server that stalls is seen to stall. In the end everybody looks whether the place is still
/// there and gives it back. The exit code is 1 if any answer was wrong.
///
/// Example: ropeline load herd --visitors 20000 --within 5s
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct HerdArgs {
    /// How many come
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..))]
    visitors: u32,

    /// Within how long
    #[arg(long, value_name = "SPAN", default_value = "10s", value_parser = span)]
    within: Duration,

    #[command(flatten)]
    pub(crate) target: Target,
}

/// People wait and ask where they are: status polls at a fixed rate.
///
/// So many join first, as fast as they are answered; that is not measured. Then status polls are sent at a fixed rate,
/// each for another of them, however slowly they are answered, and their latency counts from when they were to be
/// sent. Let the room be paused or slow, or passes run out meanwhile. The exit code is 1 if any answer was wrong.
///
/// Example: ropeline load poll --visitors 100000 --rate 5000 --duration 1m
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct PollArgs {
    /// How many wait
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..))]
    visitors: u32,

    /// Polls per second, of all together
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = clap::value_parser!(u32).range(1..))]
    rate: u32,

    /// For how long they ask
    #[arg(long, value_name = "SPAN", default_value = "30s", value_parser = span)]
    duration: Duration,

    #[command(flatten)]
    pub(crate) target: Target,
}

/// Visitors arrive at a fixed rate, wait for their turn, enter, and finish or buy a seat.
///
/// Each joins, asks as often as told, passes the gate when the turn has come, stays a while and finishes. With --buy
/// each logs in first, and inside chooses a seat, charges points and pays at the box office that runs beside the rooms; the
/// demo concert has 150 seats, and whoever finds none goes without. The latency of what an arrival asks first counts from the
/// schedule, that of the rest from when the visitor turned to it. The exit code is 1 if any answer was wrong.
///
/// Example: ropeline load journey --rate 20 --duration 1m --stay 1s..3s --buy
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct JourneyArgs {
    /// Arrivals per second
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    rate: u32,

    /// For how long visitors arrive; then those who are left are waited for
    #[arg(long, value_name = "SPAN", default_value = "30s", value_parser = span)]
    duration: Duration,

    /// Stop after so long: those who are left leave [default: when all are through]
    #[arg(long, value_name = "SPAN", value_parser = span)]
    until: Option<Duration>,

    /// How long one stays inside
    #[arg(long, value_name = "SPAN..SPAN", default_value = "2s..6s", value_parser = spans)]
    stay: Spans,

    /// Buy a seat at the box office
    #[arg(long)]
    buy: bool,

    /// Makes the same visitors again
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    #[command(flatten)]
    pub(crate) target: Target,
}

/// A rate that grows step by step, to see from where on answers are slow.
///
/// The report has a line for each step, so that one sees from which rate on answers are slow. What is sent never
/// waits for what was sent before. The exit code is 1 if any answer was wrong.
///
/// Example: ropeline load ramp --of poll --from 1000 --to 10000 --steps 10 --duration 1m
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct RampArgs {
    /// What is sent
    #[arg(long, value_name = "WHAT", default_value = "poll")]
    of: Of,

    /// The first rate, per second
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    from: u32,

    /// The last rate, per second
    #[arg(long, value_name = "N", default_value_t = 2_000, value_parser = clap::value_parser!(u32).range(1..))]
    to: u32,

    /// In how many steps
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u8).range(1..))]
    steps: u8,

    /// Over how long
    #[arg(long, value_name = "SPAN", default_value = "30s", value_parser = span)]
    duration: Duration,

    /// How many wait, for polls
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..))]
    visitors: u32,

    #[command(flatten)]
    pub(crate) target: Target,
}

/// What a ramp is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Of {
    /// Joins, each of a new visitor
    Join,
    /// Status polls of visitors who joined before
    Poll,
}

impl HerdArgs {
    pub(crate) fn plan(&self) -> Result<Plan, Failure> {
        let visitors = self.visitors as usize;
        let plan = Plan {
            scenario: Scenario::Herd,
            schedule: Schedule::spread(visitors, self.within),
            errand: Errand::Join,
            visitors,
            until: None,
        };
        plan.checked()
    }
}

impl PollArgs {
    pub(crate) fn plan(&self) -> Result<Plan, Failure> {
        let plan = Plan {
            scenario: Scenario::Poll,
            schedule: Schedule::steady(self.rate.into(), self.duration),
            errand: Errand::Poll,
            visitors: self.visitors as usize,
            until: None,
        };
        plan.checked()
    }
}

impl JourneyArgs {
    pub(crate) fn plan(&self) -> Result<Plan, Failure> {
        let schedule = Schedule::steady(self.rate.into(), self.duration);
        let inside = if self.buy {
            Inside::BuysSeat
        } else {
            Inside::Looks
        };
        let plan = Plan {
            scenario: Scenario::Journey,
            visitors: schedule.len(),
            schedule,
            errand: Errand::Journey {
                inside,
                stay: self.stay,
                seed: self.seed,
            },
            until: self.until,
        };
        plan.checked()
    }
}

impl RampArgs {
    pub(crate) fn plan(&self) -> Result<Plan, Failure> {
        let (from, to) = (self.from.into(), self.to.into());
        let schedule = Schedule::ramp(from, to, self.steps.into(), self.duration);
        let (errand, visitors) = match self.of {
            Of::Join => (Errand::Join, schedule.len()),
            Of::Poll => (Errand::Poll, self.visitors as usize),
        };
        let plan = Plan {
            scenario: Scenario::Ramp,
            schedule,
            errand,
            visitors,
            until: None,
        };
        plan.checked()
    }
}
