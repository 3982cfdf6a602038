//! What has happened so far, in numbers.

use std::time::Duration;

use jiff::Timestamp;

use super::{estimates::Wait, place::Place};

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

/// What was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Question {
    Join,
    Status,
    Gate,
    Leave,
}

#[derive(Debug, Default)]
pub(crate) struct Tally {
    stages: Vec<Stage>,
    pub(crate) answers: u64,
    /// Answers that said: come back later.
    pub(crate) put_off: u64,
    /// Questions without an answer; they were repeated.
    pub(crate) unanswered: u64,
    pub(crate) joins: Vec<Duration>,
    pub(crate) polls: Vec<Duration>,
    pub(crate) gates: u64,
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

    pub(crate) fn answered(&mut self, question: Question, took: Duration) {
        self.answers += 1;
        match question {
            Question::Join => self.joins.push(took),
            Question::Status => self.polls.push(took),
            Question::Gate => self.gates += 1,
            Question::Leave => {}
        }
    }
}
