//! What a run came to.

use std::{collections::BTreeMap, time::Duration};

use serde::Serialize;

use super::{
    Outcome,
    plan::{Errand, Plan, Scenario},
    schedule::Step,
};
use crate::load::{
    judge::{Closing, Wrong},
    latency::{Latency, Spread},
    report::Visitors,
    stats::{float, tenth},
    tally::{PutOff, Question, Tally},
};

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Report {
    pub(crate) scenario: Scenario,
    pub(crate) url: String,
    pub(crate) seconds: f64,
    pub(crate) generator: Generator,
    /// Answers of any kind, also those that say "later".
    pub(crate) answers: u64,
    pub(crate) answers_per_second: f64,
    pub(crate) latency: BTreeMap<Question, Latency>,
    /// One for each rate, where there are several.
    pub(crate) steps: Vec<StepFigures>,
    /// What became of those who came to enter.
    pub(crate) visitors: Option<Visitors>,
    /// Where seats are bought.
    pub(crate) sales: Option<Sales>,
    pub(crate) put_off: PutOff,
    pub(crate) unanswered: u64,
    pub(crate) most_inside: u64,
    /// `null` if it is not known, and then not checked.
    pub(crate) cap: Option<u64>,
    pub(crate) wrong_answers: u64,
    pub(crate) wrong: Wrong,
}

/// Whether the generator kept to its schedule: what it is late is not the server's fault.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Generator {
    pub(crate) planned: usize,
    pub(crate) planned_per_second: f64,
    pub(crate) sent: u64,
    pub(crate) late: Delay,
    pub(crate) connections: u16,
    /// Questions that waited for one of them.
    pub(crate) waited_for_connection: Delay,
    pub(crate) in_flight_most: u64,
    pub(crate) in_flight_left: u64,
}

/// How many were held up for more than a millisecond, and how long the slowest were.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Delay {
    pub(crate) count: u64,
    pub(crate) p99_ms: f64,
    pub(crate) max_ms: f64,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StepFigures {
    pub(crate) from_seconds: f64,
    pub(crate) per_second: f64,
    pub(crate) latency: Latency,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Sales {
    pub(crate) seats: u64,
    /// Buyers who found none.
    pub(crate) without: u64,
}

/// What is known besides what was seen.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) url: String,
    pub(super) connections: u16,
    pub(super) cap: Option<u64>,
    pub(super) closing: Closing,
}

impl Report {
    pub(super) fn new(plan: &Plan, seen: &Outcome, wrong: Wrong, known: Known) -> Self {
        let tally = &seen.tally;
        let took = tally.took.iter();
        let is_journey = matches!(plan.errand, Errand::Journey { .. });
        Self {
            scenario: plan.scenario,
            url: known.url,
            seconds: tenth(seen.took.as_secs_f64()),
            generator: Generator::of(plan, seen, known.connections),
            answers: tally.answers,
            answers_per_second: per_second(tally.answers, seen.took),
            latency: took.map(|(what, took)| (*what, took.figures())).collect(),
            steps: steps(plan, tally),
            visitors: is_journey.then(|| Visitors::of(tally)),
            sales: plan.buys().then_some(Sales {
                seats: tally.sold,
                without: tally.sold_out,
            }),
            put_off: tally.put_off,
            unanswered: tally.unanswered,
            most_inside: known.closing.most_inside,
            cap: known.cap,
            wrong_answers: wrong.total(),
            wrong,
        }
    }
}

impl Generator {
    fn of(plan: &Plan, seen: &Outcome, connections: u16) -> Self {
        let planned = plan.schedule.len();
        let lasts = plan.schedule.lasts();
        Self {
            planned,
            planned_per_second: per_second(planned as u64, lasts),
            sent: seen.tally.sent_late.count(),
            late: Delay::of(&seen.tally.sent_late),
            connections,
            waited_for_connection: Delay::of(&seen.tally.queued),
            in_flight_most: seen.in_flight_most,
            in_flight_left: seen.in_flight_left,
        }
    }
}

impl Delay {
    fn of(spread: &Spread) -> Self {
        let Latency { p99_ms, max_ms, .. } = spread.figures();
        Self {
            count: spread.notable,
            p99_ms,
            max_ms,
        }
    }
}

/// One rate alone has no steps.
fn steps(plan: &Plan, tally: &Tally) -> Vec<StepFigures> {
    let steps = plan.schedule.steps();
    if steps.len() < 2 {
        return Vec::new();
    }
    let figures = |(step, took): (&Step, &Spread)| StepFigures {
        from_seconds: tenth(step.starts.as_secs_f64()),
        per_second: tenth(step.per_second()),
        latency: took.figures(),
    };
    steps.iter().zip(&tally.steps).map(figures).collect()
}

fn per_second(count: u64, over: Duration) -> f64 {
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    tenth(float(count) / over.as_secs_f64().max(0.001))
}
