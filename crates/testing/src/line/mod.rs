//! Random stories of a line, and the judge who listens to them.
//!
//! A [`Story`] is a policy and a list of [`Step`]s. [`tell`] plays it on anything that is a [`Line`], and
//! after every step a [`Judge`] compares what was done and what is shown with what was promised. [`Tally`]
//! counts commands and their outcomes, so that a test can show that it tried all of them.

mod judge;
mod ordinary;
mod step;
mod tally;
mod teller;

use std::{cell::RefCell, time::Duration};

use proptest::{
    strategy::Strategy,
    test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner},
};
use ropeline_core::{
    Command, Holder, Imported, Joined, Located, Ordinal, Outcome, Reply, Standing, Timestamp,
    UserId, View, Visitor,
};

pub use judge::{Judge, Observation, Token, Violation};
pub use ordinary::ORDINARY;
pub use step::{Basis, Step, Story, stories};
pub use tally::Tally;
pub use teller::{tell, tell_together};

/// A waiting room under test.
pub trait Line {
    /// Carries out a command now.
    fn apply(&mut self, command: Command) -> Outcome;
    /// The picture that visitors are shown.
    fn view(&mut self) -> View;
    /// Where a holder stands.
    fn standing(&mut self, holder: &Holder) -> Standing;
    /// Where an ordinal is, as its holder is told.
    fn locate(&mut self, view: &View, ordinal: Ordinal) -> Located {
        view.locate(ordinal)
    }
    /// Lets time pass; says whether the line has settled by itself since.
    fn advance(&mut self, by: Duration) -> Settled;
    /// What can go wrong with this kind of line goes wrong: a crash, lost writes. `how` picks a variant.
    fn suffer(&mut self, how: u64) -> Suffered;
    /// What a line that compares itself with another has found since it was last asked.
    fn objection(&mut self) -> Option<Violation> {
        None
    }
}

/// Whether what was due has happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settled {
    /// It has.
    Yes,
    /// It will with the next command.
    NotYet,
}

/// What a line went through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Suffered {
    /// Everything acknowledged is still there.
    Nothing,
    /// Writes were lost and what the nodes knew was merged in.
    LostWrites,
}

/// Tells many stories, each on a line of its own; one that breaks a promise is shrunk and fails the test.
///
/// The stories are the same in every run, so that a change is judged and not luck. `STORIES=20000` tells so
/// many instead, others each time.
pub fn try_stories<L: Line>(
    cases: u32,
    stories: impl Strategy<Value = Story>,
    line: impl Fn(&Story) -> L,
) -> Tally {
    let one = |story: &Story| vec![Box::new(line(story)) as Box<dyn Line + '_>];
    let mut tallies = try_together(cases, stories, one);
    tallies.pop().unwrap_or_default()
}

/// As [`try_stories`], with each story told on several lines together; says what was tried on each of them.
pub fn try_together<'a>(
    cases: u32,
    stories: impl Strategy<Value = Story>,
    lines: impl Fn(&Story) -> Vec<Box<dyn Line + 'a>>,
) -> Vec<Tally> {
    let tallies = RefCell::new(Vec::new());
    let told = runner(cases).run(&stories, |story| {
        let mut lines = lines(&story);
        let mut tallies = tallies.borrow_mut();
        tallies.resize_with(lines.len(), Tally::default);
        tell_together(&mut lines, &story, &mut tallies)
            .map_err(|violation| TestCaseError::fail(violation.to_string()))
    });
    match told {
        Ok(()) => tallies.into_inner(),
        Err(TestError::Fail(reason, story)) => panic!("{reason}\n{story:#?}"),
        Err(TestError::Abort(reason)) => panic!("{reason}"),
    }
}

fn runner(cases: u32) -> TestRunner {
    #[expect(
        clippy::disallowed_methods,
        reason = "a test has no configuration but this"
    )]
    let wanted = std::env::var("STORIES")
        .ok()
        .and_then(|count| count.parse().ok());
    let config = |cases| Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    };
    if let Some(cases) = wanted {
        return TestRunner::new(config(cases));
    }
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    TestRunner::new_with_rng(config(cases), rng)
}

/// The visitor that a small number stands for: there are some of each kind that a store may keep in a way of its own.
pub fn visitor(n: u8) -> Visitor {
    let user = |id: String| UserId::parse(&id).expect("a valid user id");
    // Two visitors have the same id where one of them is verified.
    let plain = || user(format!("visitor-{}", n / 5));
    let uuid = || user(format!("{0:08x}-0a0d-4000-8000-00ff{0:08x}", n / 5));
    match n % 5 {
        0 => Visitor::anonymous(n.into()),
        1 => Visitor::stated(&plain()),
        2 => Visitor::verified(&plain()),
        3 => Visitor::stated(&uuid()),
        _ => Visitor::verified(&uuid()),
    }
}

/// The ordinals that a reply gave out for the first time, with their visitors.
pub(crate) fn new_places(command: &Command, reply: &Reply) -> Vec<Holder> {
    let new: Vec<(&Visitor, Ordinal)> = match (command, reply) {
        (Command::Join(joiners), Reply::Joined(joined)) => {
            let pairs = joiners.iter().zip(joined);
            let new = pairs.filter_map(|(joiner, joined)| match joined {
                Joined::New(ordinal) => Some((&joiner.visitor, *ordinal)),
                _ => None,
            });
            new.collect()
        }
        (Command::Import { rows, .. }, Reply::Imported(imported)) => {
            let pairs = rows.iter().zip(imported);
            let new = pairs.filter_map(|(row, imported)| match imported {
                Imported::Placed(ordinal) => Some((&row.visitor, *ordinal)),
                _ => None,
            });
            new.collect()
        }
        _ => Vec::new(),
    };
    let holders = new.into_iter().map(|(visitor, ordinal)| Holder {
        visitor: visitor.clone(),
        ordinal,
    });
    holders.collect()
}

/// A moment far from zero, so that nothing is saved by saturating arithmetic.
pub const START: Timestamp = Timestamp(1_700_000_000_000);
