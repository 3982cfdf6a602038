//! Plays stories.

use std::{sync::Arc, time::Duration};

use ropeline_core::{Command, Holder, ImportRow, JoinKey, Joiner, Ordinal, Policy, Standing, Was};

use super::{Basis, Judge, Line, Observation, Settled, Step, Story, Tally, Violation, visitor};

/// Plays a story on a line, judged after every step.
pub fn tell(line: &mut impl Line, story: &Story, tally: &mut Tally) -> Result<(), Violation> {
    play_all(&mut [Teller::of(line)], story, std::slice::from_mut(tally))
}

/// Plays a story on several lines, each step on all of them before the next, each judged for itself.
pub fn tell_together(
    lines: &mut [Box<dyn Line + '_>],
    story: &Story,
    tallies: &mut [Tally],
) -> Result<(), Violation> {
    let lines = lines.iter_mut();
    let mut tellers: Vec<_> = lines.map(|line| Teller::of(line.as_mut())).collect();
    play_all(&mut tellers, story, tallies)
}

fn play_all(
    tellers: &mut [Teller<'_>],
    story: &Story,
    tallies: &mut [Tally],
) -> Result<(), Violation> {
    for teller in &mut *tellers {
        teller.look("the beginning")?;
    }
    for step in &story.steps {
        for (teller, tally) in tellers.iter_mut().zip(&mut *tallies) {
            teller.play(step, tally)?;
        }
    }
    Ok(())
}

/// Longer than any `presence_ttl` of a story, so that an imported place is owed no less than a joined one.
const IMPORT_GRACE: Duration = Duration::from_secs(25);

/// A visitor who never joins.
const STRANGER: u8 = 200;

struct Teller<'a> {
    line: &'a mut dyn Line,
    judge: Judge,
    keys: u64,
    /// Whose join had the last key.
    last_key: u8,
}

impl<'a> Teller<'a> {
    fn of(line: &'a mut dyn Line) -> Self {
        Self {
            line,
            judge: Judge::default(),
            keys: 0,
            last_key: 0,
        }
    }

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
        self.line.objection().map_or(Ok(()), Err)?;
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
        Some(match step {
            Step::Join(_) | Step::JoinWithKey(_) | Step::RepeatKey | Step::ReuseKey(_) => {
                Command::Join(self.joiners(step))
            }
            Step::Renew(ats) => Command::Renew(self.holders(ats)?),
            Step::Restore(ats) => Command::Restore(self.holders(ats)?),
            Step::Retell(ats) => Command::Retell(self.holders(ats)?),
            Step::Mark(ats) => {
                Command::Mark(self.holders(ats)?.into_iter().map(|h| h.ordinal).collect())
            }
            Step::Keep(at, ms) => Command::Keep {
                holder: self.holder(*at)?,
                business: Duration::from_millis(*ms),
            },
            Step::Leave(at) => Command::Leave(self.holder(*at)?),
            Step::Finish(at) => Command::Finish(self.holder(*at)?),
            Step::Stranger(at) => self.strange(*at)?,
            Step::Merge => Command::Merge(Arc::new(self.line.view())),
            Step::ChangePolicy { from, to } => Command::ChangePolicy {
                from: self.policy(*from),
                to: Arc::new(to.clone()),
            },
            Step::Import(rows) => Command::Import {
                rows: rows.iter().map(|(n, was)| import_row(*n, *was)).collect(),
                grace: IMPORT_GRACE,
            },
            step => by_operator(step)?,
        })
    }

    fn joiners(&mut self, step: &Step) -> Vec<Joiner> {
        match step {
            Step::JoinWithKey(n) => {
                self.keys += 1;
                self.last_key = *n;
                vec![joiner(*n, Some(key(*n, self.keys)))]
            }
            Step::RepeatKey => vec![joiner(self.last_key, Some(key(self.last_key, self.keys)))],
            Step::ReuseKey(n) => {
                let stolen = JoinKey {
                    body: 999,
                    ..key(*n, self.keys)
                };
                vec![joiner(*n, Some(stolen))]
            }
            Step::Join(visitors) => visitors.iter().map(|n| joiner(*n, None)).collect(),
            _ => Vec::new(),
        }
    }

    fn holder(&self, at: usize) -> Option<Holder> {
        Some(self.judge.token(at)?.holder.clone())
    }

    fn holders(&self, ats: &[usize]) -> Option<Vec<Holder>> {
        ats.iter().map(|at| self.holder(*at)).collect()
    }

    fn policy(&mut self, basis: Basis) -> Arc<Policy> {
        let mut policy = self.line.view().header.policy;
        if basis == Basis::Outdated {
            Arc::make_mut(&mut policy).waiting_max += 1;
        }
        policy
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
        Some(match at / 4 % 5 {
            0 => Command::Renew(vec![stranger]),
            1 => Command::Restore(vec![stranger]),
            2 => Command::Leave(stranger),
            3 => Command::Keep {
                holder: stranger,
                business: Duration::from_secs(60),
            },
            _ => Command::Finish(stranger),
        })
    }
}

fn by_operator(step: &Step) -> Option<Command> {
    Some(match step {
        Step::Revoke(n) => Command::Revoke(visitor(*n)),
        Step::Settle => Command::Settle,
        Step::Admit(n) => Command::Admit(*n),
        Step::Pause => Command::Pause,
        Step::Resume => Command::Resume,
        Step::Open => Command::Open,
        Step::Close => Command::Close,
        Step::Drain => Command::Drain,
        Step::Reset => Command::Reset,
        Step::Stock(left) => Command::Stock(*left),
        Step::Delete => Command::Delete,
        Step::SetPolicy(policy) => Command::SetPolicy {
            policy: Arc::new(policy.clone()),
            digest: digest(policy),
        },
        Step::Create(policy) => Command::Create {
            policy: Arc::new(policy.clone()),
            digest: digest(policy),
        },
        _ => return None,
    })
}

/// Some policies come from a file, and some do not.
fn digest(policy: &Policy) -> Option<String> {
    policy
        .batch
        .map(|batch| format!("a file with batch {batch}"))
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

fn import_row(n: u8, was: Was) -> ImportRow {
    ImportRow {
        visitor: visitor(n),
        was,
    }
}
