//! What has happened so far, in numbers.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Serialize;

use super::{
    estimates::Wait,
    judge::Span,
    latency::{Latency, Spread},
    place::Place,
    turn::Turn,
};

/// Where a visitor is in their own story.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Stage {
    #[default]
    Coming,
    Waiting,
    /// Closed the tab and means to come back.
    Away,
    Inside,
    /// Was inside and has finished, or let the pass run out.
    Through,
    /// Gave up the place.
    Left,
    /// Closed the tab for good, or came back too late.
    Gone,
    /// Was still there when the run was stopped.
    Dismissed,
    /// Got no answer, or one that ends the story.
    Failed,
}

/// What was asked, in the order in which a visitor gets to ask it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Question {
    Login,
    Join,
    Poll,
    Gate,
    Dates,
    Seats,
    Reserve,
    Charge,
    Pay,
    Leave,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Tally {
    stages: Vec<Stage>,
    pub(crate) answers: u64,
    /// Answers that said: come back later.
    pub(crate) put_off: PutOff,
    /// Questions without an answer; they were repeated.
    pub(crate) unanswered: u64,
    /// Until the answer that was not "later".
    pub(crate) took: BTreeMap<Question, Spread>,
    /// The same for each step of a schedule.
    pub(crate) steps: Vec<Spread>,
    /// By how much scheduled questions were begun too late.
    pub(crate) sent_late: Spread,
    /// How long questions waited for a free connection.
    pub(crate) queued: Spread,
    /// Seats that were bought, and buyers who found none.
    pub(crate) sold: u64,
    pub(crate) sold_out: u64,
    /// When the server says that visitors were let in.
    pub(crate) admissions: Vec<Timestamp>,
    /// First estimates and real waits of those who never went away.
    pub(crate) waits: Vec<Wait>,
    /// From the answer of the join until the visitor saw that the turn had come, in seconds.
    pub(crate) seen_waits: Vec<f64>,
    /// What the visitor in the middle of the crowd was last told.
    pub(crate) example: Option<Place>,
}

impl Tally {
    pub(crate) fn new(visitors: usize) -> Self {
        Self {
            stages: vec![Stage::default(); visitors],
            ..Self::default()
        }
    }

    /// Forgets what was measured, and not where the visitors are.
    pub(crate) fn forget(&mut self) {
        let stages = std::mem::take(&mut self.stages);
        *self = Self {
            stages,
            ..Self::default()
        };
    }

    pub(crate) fn enter(&mut self, who: usize, stage: Stage) {
        self.stages[who] = stage;
    }

    pub(crate) fn visitors(&self) -> usize {
        self.stages.len()
    }

    pub(crate) fn count(&self, stage: Stage) -> usize {
        self.stages.iter().filter(|known| **known == stage).count()
    }

    /// Everybody who will do nothing any more.
    pub(crate) fn done(&self) -> usize {
        let active = [Stage::Coming, Stage::Waiting, Stage::Away, Stage::Inside];
        let active = active.into_iter().map(|stage| self.count(stage));
        self.visitors() - active.sum::<usize>()
    }

    /// The visitor whose view is shown while the crowd moves.
    pub(crate) fn example_number(&self) -> usize {
        self.visitors() / 2
    }

    pub(crate) fn told(&mut self, who: usize, place: &Place) {
        if who == self.example_number() {
            self.example = Some(place.clone());
        }
    }

    /// A question was answered with something else than "later".
    pub(crate) fn answered(&mut self, question: Question, turn: &Turn, span: Span) {
        let took = span.answered.saturating_sub(turn.due);
        self.queued.add(span.asked.saturating_sub(turn.begun));
        self.took.entry(question).or_default().add(took);
        if let Some(step) = turn.step {
            if self.steps.len() <= step {
                self.steps.resize_with(step + 1, Spread::default);
            }
            self.steps[step].add(took);
        }
    }

    /// How long one kind of question took.
    pub(crate) fn latency(&self, question: Question) -> Latency {
        let none = Spread::default;
        let took = self.took.get(&question).cloned();
        took.unwrap_or_else(none).figures()
    }
}

/// How often "later" was said, and by what.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PutOff {
    /// 429: too many from one address.
    pub(crate) rate_limited: u64,
    /// 503: the store is away, or the room full.
    pub(crate) busy: u64,
}

impl PutOff {
    pub(crate) fn total(self) -> u64 {
        self.rate_limited + self.busy
    }
}
