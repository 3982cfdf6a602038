//! Lies that show only beside what was said before, about passes and turns too.

use ropeline_core::{
    Bits, Command, Departure, Ending, Live, Located, Ordinal, Outcome, Pass, Policy, Reply,
    Standing,
};
use ropeline_testing::line::{Line, Step};

use super::{Sabotage, issued, join, nth, policy_of};
use crate::rules::{bank, park, secs};

/// Lies that show only beside what was said before.
pub(super) fn histories() -> Vec<Sabotage> {
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
            Ordinal(1) if issued(line) >= 2 => Standing::Live(Live::AtDoor { before: 0 }),
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
pub(super) fn passes() -> Vec<Sabotage> {
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
