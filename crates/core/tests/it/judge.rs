//! The judge of random stories, judged: a line that breaks a promise is caught with that promise.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use ropeline_core::{
    Bits, Command, Departure, Ending, Holder, Joined, Joiner, Live, Located, Ordinal, Outcome,
    Pass, Policy, Reply, Standing, View, Was,
};
use ropeline_testing::line::{
    Basis, Line, START, Settled, Step, Story, Suffered, Tally, tell, visitor,
};

use crate::{
    plain::{PlainLine, holder},
    rules::{bank, park, secs},
};

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

fn sabotages() -> Vec<Sabotage> {
    [
        answers(),
        pictures(),
        places(),
        histories(),
        passes(),
        limits(),
        rooms(),
        policies(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Lies in what is answered to a command.
fn answers() -> Vec<Sabotage> {
    vec![
        Sabotage::of(
            "ordinals have no gap and no duplicate",
            "an ordinal is left out",
            bank(2),
            &[join(&[1])],
        )
        .applying(|line, command| answer_joins(line, command, |o| Joined::New(o.next()))),
        Sabotage::of(
            "ordinals have no gap and no duplicate",
            "an ordinal is given twice",
            bank(2),
            &[join(&[1]), join(&[2])],
        )
        .applying(|line, command| answer_joins(line, command, |_| Joined::New(Ordinal(1)))),
        Sabotage::of(
            "a second join is answered with the visitor's own place",
            "the place of another is handed out",
            bank(2),
            &[join(&[1]), join(&[2]), join(&[2])],
        )
        .applying(|line, command| {
            let mut outcome = line.apply(command);
            if let Reply::Joined(joined) = &mut outcome.reply
                && let Joined::Already(ordinal) = &mut joined[0]
            {
                *ordinal = Ordinal(1);
            }
            outcome
        }),
        Sabotage::of(
            "a place is claimed once",
            "a second join gets what the first has claimed",
            bank(2),
            &[import(&[1]), join(&[1]), join(&[1])],
        )
        .applying(|line, command| {
            let mut outcome = line.apply(command);
            if let Reply::Joined(joined) = &mut outcome.reply
                && let Joined::Already(ordinal) = joined[0]
            {
                joined[0] = Joined::Claimed(ordinal);
            }
            outcome
        }),
        Sabotage::of(
            "an ended place never comes back",
            "the gate lets in somebody who left",
            bank(2),
            &[join(&[1]), Step::Leave(nth(1)), Step::Renew(vec![nth(1)])],
        )
        .applying(|line, command| {
            let mut outcome = line.apply(command);
            if let Reply::Standing(standings) = &mut outcome.reply {
                standings[0].1 = Standing::Live(Live::InLine);
            }
            outcome
        }),
        Sabotage::of(
            "nobody acts for another's place",
            "the gate looks at the ordinal alone",
            bank(2),
            &[join(&[1]), Step::Stranger(0)],
        )
        .applying(|line, command| match command {
            Command::Renew(strangers) => {
                let mut outcome = line.apply(Command::Renew(vec![holder(1, 1)]));
                if let Reply::Standing(standings) = &mut outcome.reply {
                    standings[0].0 = strangers[0].clone();
                }
                outcome
            }
            command => line.apply(command),
        }),
        Sabotage::of(
            "nobody acts for another's place",
            "a stranger's leave ends a place",
            bank(2),
            &[join(&[1]), Step::Stranger(8)],
        )
        .applying(|line, command| match command {
            Command::Leave(_) => line.apply(Command::Leave(holder(1, 1))),
            command => line.apply(command),
        }),
        Sabotage::of(
            "an ended token does nothing",
            "leaving works twice",
            bank(2),
            &[join(&[1]), Step::Leave(nth(1)), Step::Leave(nth(1))],
        )
        .applying(|line, command| {
            let mut outcome = line.apply(command);
            if let Reply::Departed(departure) = &mut outcome.reply {
                *departure = Departure::Finished;
            }
            outcome
        }),
    ]
}

/// Lies in what the view shows.
fn pictures() -> Vec<Sabotage> {
    vec![
        Sabotage::of(
            "the version never falls",
            "an older picture is shown",
            bank(2),
            &[join(&[1]), join(&[2])],
        )
        .viewing(|view| {
            if view.header.issued >= Ordinal(2) {
                view.header.version = 0;
            }
        }),
        Sabotage::of(
            "every acknowledged place is counted",
            "the last join is forgotten",
            bank(2),
            &[join(&[1])],
        )
        .viewing(|view| view.header.issued = Ordinal(0)),
        Sabotage::of(
            "the counts are right",
            "one more is said to be inside",
            bank(2),
            &[join(&[1])],
        )
        .viewing(|view| view.inside += 1),
        Sabotage::of(
            "ahead and behind are the true rank",
            "one more is said to be ahead",
            bank(2),
            &[join(&[1, 2, 3])],
        )
        .locating(|view, ordinal| match view.locate(ordinal) {
            Located::InLine { ahead, behind } => Located::InLine {
                ahead: ahead + 1,
                behind,
            },
            located => located,
        }),
        Sabotage::of(
            "ahead never rises",
            "who left the line is in front again",
            bank(2),
            &[join(&[1, 2, 3, 4]), Step::Leave(nth(3)), join(&[5])],
        )
        .viewing(|view| {
            if view.header.issued >= Ordinal(5) {
                view.gone = Bits::default();
            }
        })
        .standing(|line, holder| match line.standing(holder) {
            Standing::Ended(_) if issued(line) >= 5 => Standing::Live(Live::InLine),
            standing => standing,
        }),
    ]
}

/// Lies about where somebody stands.
fn places() -> Vec<Sabotage> {
    vec![
        Sabotage::of(
            "nobody in line is overtaken",
            "the second is inside before the first",
            bank(2),
            &[join(&[1, 2])],
        )
        .standing(|line, holder| match holder.ordinal {
            Ordinal(1) => Standing::Live(Live::InLine),
            _ => line.standing(holder),
        }),
        Sabotage::of(
            "every ordinal is in exactly one of six states",
            "who left is still live",
            bank(2),
            &[join(&[1, 2, 3]), Step::Leave(nth(3))],
        )
        .standing(|line, holder| match line.standing(holder) {
            Standing::Ended(_) => Standing::Live(Live::InLine),
            standing => standing,
        }),
        Sabotage::of(
            "a visitor has at most one place",
            "a second join gets a second place",
            bank(2),
            &[join(&[1]), join(&[1])],
        )
        .applying(|line, command| match command {
            Command::Join(joiners) if issued(line) > 0 => line.apply(Command::Join(
                joiners.into_iter().map(|_| joiner(99)).collect(),
            )),
            command => line.apply(command),
        })
        .standing(|line, holder| {
            let visitor = match holder.ordinal {
                Ordinal(2) => visitor(99),
                _ => holder.visitor.clone(),
            };
            line.standing(&Holder {
                visitor,
                ..holder.clone()
            })
        }),
    ]
}

/// Lies that show only beside what was said before.
fn histories() -> Vec<Sabotage> {
    vec![
        Sabotage::of(
            "an ended place stays as it ended",
            "who was done is gone",
            bank(2),
            &[join(&[1]), Step::Finish(nth(1)), join(&[2])],
        )
        .standing(|line, holder| match line.standing(holder) {
            Standing::Ended(_) if issued(line) >= 2 => Standing::Ended(Ending::Gone),
            standing => standing,
        })
        .locating(|view, ordinal| match view.locate(ordinal) {
            Located::Ended(_) if view.header.issued >= Ordinal(2) => Located::Ended(Ending::Gone),
            located => located,
        }),
        Sabotage::of(
            "nobody is admitted twice",
            "who was done is inside again",
            bank(2),
            &[join(&[1]), Step::Finish(nth(1)), join(&[2])],
        )
        .viewing(|view| {
            if view.header.issued >= Ordinal(2) {
                view.done = Bits::default();
                view.inside += 1;
            }
        })
        .standing(|line, holder| match line.standing(holder) {
            Standing::Ended(_) if issued(line) >= 2 => Standing::Live(Live::Inside(Pass {
                expires_at: line.clock + secs(1),
                since: line.clock,
            })),
            standing => standing,
        }),
        Sabotage::of(
            "who was inside does not wait again",
            "the first is sent back to the door",
            bank(2),
            &[join(&[1]), join(&[2])],
        )
        .viewing(|view| {
            if view.header.issued >= Ordinal(2) {
                (view.inside, view.door) = (1, 1);
            }
        })
        .standing(|line, holder| match holder.ordinal {
            Ordinal(1) if issued(line) >= 2 => Standing::Live(Live::AtDoor),
            _ => line.standing(holder),
        }),
        Sabotage::of(
            "a place ends only by its holder, an operator or time",
            "an ended token gives up the same visitor's new place",
            bank(1),
            &[
                join(&[1, 2]),
                Step::Leave(nth(2)),
                join(&[2]),
                Step::Leave(nth(2)),
            ],
        )
        .applying(|line, command| match command {
            Command::Leave(holder) if matches!(line.standing(&holder), Standing::Ended(_)) => {
                let outcome = line.apply(Command::Revoke(holder.visitor));
                let reply = Reply::Departed(Departure::Nothing);
                Outcome { reply, ..outcome }
            }
            command => line.apply(command),
        }),
    ]
}

/// Lies about passes and turns.
fn passes() -> Vec<Sabotage> {
    let poll = [Step::Advance(9_000), Step::Mark(vec![nth(2)])];
    let mut patient = vec![join(&[1, 2])];
    patient.extend(poll.iter().cycle().take(14).cloned());
    let watchful = Policy {
        presence_ttl: secs(16),
        every: secs(60),
        ..park(1)
    };
    vec![
        Sabotage::of(
            "who is there is not stepped over",
            "polls are not heard",
            watchful,
            &patient,
        )
        .applying(|line, command| match command {
            Command::Mark(_) => line.apply(Command::Settle),
            command => line.apply(command),
        }),
        Sabotage::of(
            "an expired pass is never renewed",
            "the gate's clock is behind",
            bank(1),
            &[join(&[1]), Step::Advance(31_000), Step::Renew(vec![nth(1)])],
        )
        .applying(|line, command| match command {
            Command::Renew(_) => line.room.apply(command, line.clock - secs(5)),
            command => line.apply(command),
        }),
        Sabotage::of(
            "a pass lasts no longer than the policy says",
            "a pass is given for too long",
            bank(1),
            &[join(&[1])],
        )
        .viewing(|view| policy_of(view).pass_ttl = secs(10)),
        Sabotage::of(
            "a pass lasts no longer than the policy says",
            "a pass is renewed beyond its longest",
            bank(1),
            &[join(&[1]), Step::Advance(20_000), Step::Renew(vec![nth(1)])],
        )
        .viewing(|view| policy_of(view).pass_max = secs(40)),
    ]
}

/// Lies about how many there are.
fn limits() -> Vec<Sabotage> {
    vec![
        Sabotage::of(
            "never more inside than the cap",
            "one more is let in than the cap allows",
            bank(3),
            &[join(&[1, 2, 3])],
        )
        .viewing(|view| policy_of(view).active_max = Some(2)),
        Sabotage::of(
            "never more per tick than the batch",
            "one more is let in than the batch allows",
            park(3),
            &[join(&[1, 2, 3])],
        )
        .viewing(|view| policy_of(view).batch = Some(2)),
        Sabotage::of(
            "no budget is left while somebody waits",
            "one fewer is let in than the batch allows",
            park(1),
            &[join(&[1, 2])],
        )
        .viewing(|view| policy_of(view).batch = Some(2)),
        Sabotage::of(
            "every admission counts in its tick",
            "an admission is not counted",
            bank(1),
            &[Step::Advance(1_000), join(&[1])],
        )
        .viewing(|view| view.header.tick.admitted = 0),
    ]
}

/// Lies about whether there is a room, and which.
fn rooms() -> Vec<Sabotage> {
    let begin_again = [Step::Advance(1_000), Step::Delete, Step::Create(bank(2))];
    vec![
        Sabotage::of(
            "a deleted room answers nobody",
            "a deleted room settles on",
            bank(2),
            &[join(&[1]), Step::Delete, Step::Settle],
        )
        .applying(|line, command| {
            let outcome = line.apply(command);
            match outcome.reply {
                Reply::NoRoom => Outcome {
                    reply: Reply::Done,
                    ..outcome
                },
                _ => outcome,
            }
        }),
        Sabotage::of(
            "a room is there until it is deleted, and not again before it is made",
            "a deletion is acknowledged and forgotten",
            bank(2),
            &[join(&[1]), Step::Delete],
        )
        .applying(|line, command| match command {
            Command::Delete => line.apply(Command::Settle),
            command => line.apply(command),
        }),
        Sabotage::of(
            "only a new beginning has another epoch",
            "a room begins again in the epoch of before",
            bank(2),
            &begin_again,
        )
        .viewing(|view| view.header.epoch = START),
        Sabotage::of(
            "only a new beginning has another epoch",
            "a join begins another epoch",
            bank(2),
            &[join(&[1])],
        )
        .viewing(|view| view.header.epoch = START + secs(view.header.issued.0)),
        Sabotage::of(
            "nobody has a place in a deleted room",
            "who was inside stays inside",
            bank(2),
            &[join(&[1]), Step::Delete],
        )
        .viewing(|view| view.inside = view.header.issued.0),
    ]
}

/// Lies about which policy holds.
fn policies() -> Vec<Sabotage> {
    let change = Step::ChangePolicy {
        from: Basis::Outdated,
        to: bank(3),
    };
    vec![
        Sabotage::of(
            "only who has seen a policy changes it",
            "another's change is overwritten",
            bank(2),
            &[change],
        )
        .applying(|line, command| match command {
            Command::ChangePolicy { to: policy, .. } => line.apply(Command::SetPolicy {
                policy,
                digest: None,
            }),
            command => line.apply(command),
        }),
        Sabotage::of(
            "the policy is the one that was last set",
            "a policy is acknowledged and forgotten",
            bank(2),
            &[Step::SetPolicy(bank(3))],
        )
        .applying(|line, command| match command {
            Command::SetPolicy { .. } => line.apply(Command::Settle),
            command => line.apply(command),
        }),
    ]
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
