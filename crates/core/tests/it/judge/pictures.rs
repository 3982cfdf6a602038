//! Lies in what the view shows, and about where somebody stands.

use ropeline_core::{Bits, Command, Holder, Live, Located, Ordinal, Standing, Was};
use ropeline_testing::line::{Line, Step, visitor};

use super::{Sabotage, issued, join, joiner, nth};
use crate::rules::bank;

/// Lies in what the view shows.
pub(super) fn pictures() -> Vec<Sabotage> {
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
            "the stock is the one that was last told",
            "a stock is acknowledged and forgotten",
            bank(2),
            &[Step::Stock(Some(7))],
        )
        .viewing(|view| view.header.stock = None),
        Sabotage::of(
            "the stock is the one that was last told",
            "a stock that is told no more is still shown",
            bank(2),
            &[Step::Stock(Some(7)), Step::Stock(None)],
        )
        .applying(|line, command| match command {
            Command::Stock(None) => line.apply(Command::Settle),
            command => line.apply(command),
        }),
        Sabotage::of(
            "the counts are right",
            "one more is said to be inside",
            bank(2),
            &[join(&[1])],
        )
        .viewing(|view| view.inside += 1),
        Sabotage::of(
            "everybody at the door knows how many are before them",
            "all at the door are told that they are next",
            bank(1),
            &[Step::Import(vec![
                (1, Was::Inside),
                (2, Was::Inside),
                (3, Was::Inside),
            ])],
        )
        .standing(|line, holder| match line.standing(holder) {
            Standing::Live(Live::AtDoor { .. }) => Standing::Live(Live::AtDoor { before: 0 }),
            standing => standing,
        }),
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
pub(super) fn places() -> Vec<Sabotage> {
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
