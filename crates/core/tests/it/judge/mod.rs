//! The judge of random stories, judged: a line that breaks a promise is caught with that promise.

mod answers;
mod histories;
mod limits;
mod pictures;

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use ropeline_core::{
    Command, Holder, Joined, Joiner, Located, Ordinal, Outcome, Policy, Reply, Standing, View, Was,
};
use ropeline_testing::line::{
    Line, Settled, Step, Story, Suffered, Tally, stories, tell, try_stories, visitor,
};

use crate::{plain::PlainLine, rules::bank};

/// A way of breaking one promise, and a story in which it shows.
struct Sabotage {
    promise: &'static str,
    how: &'static str,
    story: Story,
    apply: fn(&mut PlainLine, Command) -> Outcome,
    view: fn(&mut View),
    standing: fn(&mut PlainLine, &Holder) -> Standing,
    locate: fn(&View, Ordinal) -> Located,
}

impl Sabotage {
    fn of(promise: &'static str, how: &'static str, policy: Policy, steps: &[Step]) -> Self {
        let steps = steps.to_vec();
        Self {
            promise,
            how,
            story: Story { policy, steps },
            apply: |line, command| line.apply(command),
            view: |_| {},
            standing: |line, holder| line.standing(holder),
            locate: View::locate,
        }
    }

    fn applying(self, apply: fn(&mut PlainLine, Command) -> Outcome) -> Self {
        Self { apply, ..self }
    }

    fn viewing(self, view: fn(&mut View)) -> Self {
        Self { view, ..self }
    }

    fn standing(self, standing: fn(&mut PlainLine, &Holder) -> Standing) -> Self {
        Self { standing, ..self }
    }

    fn locating(self, locate: fn(&View, Ordinal) -> Located) -> Self {
        Self { locate, ..self }
    }
}

/// A line that lies where its sabotage says so.
struct Broken<'a> {
    line: PlainLine,
    sabotage: &'a Sabotage,
}

impl Line for Broken<'_> {
    fn apply(&mut self, command: Command) -> Outcome {
        (self.sabotage.apply)(&mut self.line, command)
    }

    fn view(&mut self) -> View {
        let mut view = self.line.view();
        (self.sabotage.view)(&mut view);
        view
    }

    fn standing(&mut self, holder: &Holder) -> Standing {
        (self.sabotage.standing)(&mut self.line, holder)
    }

    fn locate(&mut self, view: &View, ordinal: Ordinal) -> Located {
        (self.sabotage.locate)(view, ordinal)
    }

    fn advance(&mut self, by: Duration) -> Settled {
        self.line.advance(by)
    }

    fn suffer(&mut self, how: u64) -> Suffered {
        self.line.suffer(how)
    }
}

#[test]
fn every_broken_promise_is_caught() {
    for sabotage in sabotages() {
        let mut broken = Broken {
            line: PlainLine::new(sabotage.story.policy.clone()),
            sabotage: &sabotage,
        };
        let told = tell(&mut broken, &sabotage.story, &mut Tally::default());
        let caught = told.as_ref().err().map(|violation| violation.promise);
        assert_eq!(caught, Some(sabotage.promise), "{}: {told:?}", sabotage.how);
    }
}

#[test]
fn an_honest_line_is_not_accused() {
    for sabotage in sabotages() {
        let mut line = PlainLine::new(sabotage.story.policy.clone());
        let told = tell(&mut line, &sabotage.story, &mut Tally::default());
        assert_eq!(told, Ok(()), "the story of: {}", sabotage.how);
    }
}

#[test]
fn no_promise_of_the_judge_goes_untried() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../testing/src/line/judge");
    let files = std::fs::read_dir(folder).unwrap();
    let sources: Vec<_> = files
        .map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap())
        .collect();
    let promised: BTreeSet<_> = sources
        .iter()
        .flat_map(|source| source.split("ensure(").skip(1))
        .filter_map(|call| call.split('"').nth(1))
        .collect();
    let tried: BTreeSet<_> = sabotages().iter().map(|one| one.promise).collect();
    assert_eq!(promised, tried);
}

#[test]
fn a_story_that_breaks_a_promise_is_printed_as_short_as_it_can_be() {
    let forgetful = Sabotage::of("", "", bank(1), &[]).applying(|line, command| match command {
        Command::Delete => line.apply(Command::Settle),
        command => line.apply(command),
    });
    let told = std::panic::catch_unwind(|| {
        try_stories(200, stories(160, 0), |story| Broken {
            line: PlainLine::new(story.policy.clone()),
            sabotage: &forgetful,
        })
    });
    let message = told.unwrap_err().downcast::<String>().unwrap();
    assert!(message.contains("broken: a room is there"), "{message}");
    assert!(
        message.contains("steps: [\n        Delete,\n    ]"),
        "{message}"
    );
}

fn sabotages() -> Vec<Sabotage> {
    [
        answers::answers(),
        pictures::pictures(),
        pictures::places(),
        histories::histories(),
        histories::passes(),
        limits::limits(),
        limits::rooms(),
        limits::policies(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn answer_joins(line: &mut PlainLine, command: Command, give: fn(Ordinal) -> Joined) -> Outcome {
    let mut outcome = line.apply(command);
    if let Reply::Joined(joined) = &mut outcome.reply {
        for one in joined {
            if let Joined::New(ordinal) = one {
                *one = give(*ordinal);
            }
        }
    }
    outcome
}

fn issued(line: &PlainLine) -> u64 {
    line.room.header().issued.0
}

fn policy_of(view: &mut View) -> &mut Policy {
    Arc::make_mut(&mut view.header.policy)
}

fn join(visitors: &[u8]) -> Step {
    Step::Join(visitors.to_vec())
}

fn import(visitors: &[u8]) -> Step {
    Step::Import(visitors.iter().map(|n| (*n, Was::Waiting)).collect())
}

fn joiner(n: u8) -> Joiner {
    Joiner {
        visitor: visitor(n),
        key: None,
    }
}

/// The number that picks the token of an ordinal, ended or not.
fn nth(ordinal: usize) -> usize {
    4 * (ordinal - 1)
}
