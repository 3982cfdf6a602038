//! Lies about how many there are, and about rooms and their policies.

use ropeline_core::{Command, Outcome, Reply};
use ropeline_testing::line::{Basis, Line, START, Step};

use super::{Sabotage, join, policy_of};
use crate::rules::{bank, park, secs};

/// Lies about how many there are.
pub(super) fn limits() -> Vec<Sabotage> {
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
pub(super) fn rooms() -> Vec<Sabotage> {
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
pub(super) fn policies() -> Vec<Sabotage> {
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
