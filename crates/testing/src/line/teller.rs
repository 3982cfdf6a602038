//! Plays stories.

use std::{sync::Arc, time::Duration};

use ropeline_core::{Command, Holder, JoinKey, Joiner, Ordinal, Standing};

use super::{Basis, Judge, Line, Observation, Settled, Step, Story, Tally, Violation, visitor};

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
