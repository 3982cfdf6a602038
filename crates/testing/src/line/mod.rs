//! Random stories of a line, and the judge who listens to them.
//!
//! A [`Story`] is a policy and a list of [`Step`]s. [`tell`] plays it on anything that is a [`Line`], and
//! after every step a [`Judge`] compares what was done and what is shown with what was promised. [`Tally`]
//! counts commands and their outcomes, so that a test can show that it tried all of them.

mod judge;
mod step;
mod tally;

use std::{cell::RefCell, sync::Arc, time::Duration};

use proptest::{
    strategy::Strategy,
    test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner},
};
use ropeline_core::{
    Command, Holder, ImportRow, Imported, JoinKey, Joined, Joiner, Located, Ordinal, Outcome,
    Reply, Standing, Timestamp, UserId, View, Visitor, Was,
};

pub use judge::{Judge, Observation, Token, Violation};
pub use step::{Basis, Step, Story, stories};
pub use tally::Tally;

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

/// Plays a story on a line, judged after every step.
pub fn tell(line: &mut impl Line, story: &Story, tally: &mut Tally) -> Result<(), Violation> {
    let mut teller = Teller {
        line,
        judge: Judge::default(),
        keys: 0,
        last_key: 0,
    };
    teller.look("the beginning")?;
    for step in &story.steps {
        teller.play(step, tally)?;
    }
    Ok(())
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
    let tally = RefCell::new(Tally::default());
    let told = runner(cases).run(&stories, |story| {
        tell(&mut line(&story), &story, &mut tally.borrow_mut())
            .map_err(|violation| TestCaseError::fail(violation.to_string()))
    });
    match told {
        Ok(()) => tally.into_inner(),
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

/// The visitor that a small number stands for.
pub fn visitor(n: u8) -> Visitor {
    Visitor::user(&UserId::parse(&format!("visitor-{n}")).expect("a valid user id"))
}

/// A visitor who never joins.
const STRANGER: u8 = 200;

struct Teller<'a, L> {
    line: &'a mut L,
    judge: Judge,
    keys: u64,
    /// Whose join had the last key.
    last_key: u8,
}

impl<L: Line> Teller<'_, L> {
    fn play(&mut self, step: &Step, tally: &mut Tally) -> Result<(), Violation> {
        match step {
            Step::Advance(ms) => {
                return match self.line.advance(Duration::from_millis(*ms)) {
                    Settled::Yes => self.look("a settled line"),
                    Settled::NotYet => Ok(()),
                };
            }
            Step::Suffer(how) => {
                let what = self.line.suffer(*how);
                self.judge.suffered(what);
                tally.note("suffer", "survived");
                return self.look("after suffering");
            }
            _ => {}
        }
        let Some(command) = self.command(step) else {
            return Ok(());
        };
        let name = step.name();
        let mut outcome = self.line.apply(command.clone());
        let reply = outcome.reply.clone();
        while outcome.more {
            tally.note(name, "more to settle");
            outcome = self.line.apply(Command::Settle);
        }
        tally.note_reply(name, &reply);
        self.judge.heard(&command, &reply)?;
        self.look(name)
    }

    fn look(&mut self, at: &'static str) -> Result<(), Violation> {
        let view = self.line.view();
        let holders: Vec<Holder> = self
            .judge
            .tokens()
            .iter()
            .map(|t| t.holder.clone())
            .collect();
        let standings = holders
            .iter()
            .map(|holder| self.line.standing(holder))
            .collect();
        let located = holders
            .iter()
            .map(|holder| self.line.locate(&view, holder.ordinal))
            .collect();
        let seen = Observation {
            view,
            standings,
            located,
        };
        self.judge.look(at, &seen)
    }

    fn command(&mut self, step: &Step) -> Option<Command> {
        let holder = |at: &usize| self.judge.token(*at).map(|token| token.holder.clone());
        let holders = |ats: &[usize]| ats.iter().map(holder).collect::<Option<Vec<_>>>();
        Some(match step {
            Step::Join(visitors) => {
                Command::Join(visitors.iter().map(|n| joiner(*n, None)).collect())
            }
            Step::JoinWithKey(n) => {
                self.keys += 1;
                self.last_key = *n;
                Command::Join(vec![joiner(*n, Some(key(*n, self.keys)))])
            }
            Step::RepeatKey => {
                let n = self.last_key;
                Command::Join(vec![joiner(n, Some(key(n, self.keys)))])
            }
            Step::ReuseKey(n) => {
                let stolen = JoinKey {
                    body: 999,
                    ..key(*n, self.keys)
                };
                Command::Join(vec![joiner(*n, Some(stolen))])
            }
            Step::Renew(ats) => Command::Renew(holders(ats)?),
            Step::Restore(ats) => Command::Restore(holders(ats)?),
            Step::Mark(ats) => {
                Command::Mark(holders(ats)?.into_iter().map(|h| h.ordinal).collect())
            }
            Step::Leave(at) => Command::Leave(holder(at)?),
            Step::Finish(at) => Command::Finish(holder(at)?),
            Step::Stranger(at) => self.strange(*at)?,
            Step::Revoke(n) => Command::Revoke(visitor(*n)),
            Step::Settle => Command::Settle,
            Step::Admit(n) => Command::Admit(*n),
            Step::Pause => Command::Pause,
            Step::Resume => Command::Resume,
            Step::Open => Command::Open,
            Step::Close => Command::Close,
            Step::Drain => Command::Drain,
            Step::Reset => Command::Reset,
            Step::SetPolicy(policy) => Command::SetPolicy {
                policy: Arc::new(policy.clone()),
                digest: None,
            },
            Step::ChangePolicy { from, to } => {
                let mut seen = self.line.view().header.policy;
                if *from == Basis::Outdated {
                    Arc::make_mut(&mut seen).waiting_max += 1;
                }
                Command::ChangePolicy {
                    from: seen,
                    to: Arc::new(to.clone()),
                }
            }
            Step::Delete => Command::Delete,
            Step::Create(policy) => Command::Create {
                policy: Arc::new(policy.clone()),
                digest: None,
            },
            Step::Merge => Command::Merge(Arc::new(self.line.view())),
            Step::Import(rows) => Command::Import {
                rows: rows.iter().map(|(n, was)| import_row(*n, *was)).collect(),
                grace: IMPORT_GRACE,
            },
            Step::Advance(_) | Step::Suffer(_) => return None,
        })
    }

    /// What somebody tries with the ordinal of a live place that is not theirs, or with one that is yet to
    /// be given.
    fn strange(&self, at: usize) -> Option<Command> {
        let token = self.judge.token(at)?;
        let next = Ordinal(self.judge.tokens().len() as u64 + 1);
        let live = matches!(token.standing, Standing::Live(_));
        let stranger = Holder {
            visitor: visitor(STRANGER),
            ordinal: if live { token.holder.ordinal } else { next },
        };
        Some(match at / 4 % 4 {
            0 => Command::Renew(vec![stranger]),
            1 => Command::Restore(vec![stranger]),
            2 => Command::Leave(stranger),
            _ => Command::Finish(stranger),
        })
    }
}

fn joiner(n: u8, key: Option<JoinKey>) -> Joiner {
    Joiner {
        visitor: visitor(n),
        key,
    }
}

fn key(n: u8, number: u64) -> JoinKey {
    JoinKey {
        key: u128::from(number),
        body: u64::from(n),
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

fn import_row(n: u8, was: Was) -> ImportRow {
    ImportRow {
        visitor: visitor(n),
        was,
    }
}

/// Longer than any `presence_ttl` of a story, so that an imported place is owed no less than a joined one.
const IMPORT_GRACE: Duration = Duration::from_secs(25);

/// A moment far from zero, so that nothing is saved by saturating arithmetic.
pub const START: Timestamp = Timestamp(1_700_000_000_000);
