//! Lies in what is answered to a command.

use ropeline_core::{Command, Departure, Joined, Live, Ordinal, Reply, Standing};
use ropeline_testing::line::{Line, Step};

use super::{Sabotage, answer_joins, import, join, nth};
use crate::{plain::holder, rules::bank};

pub(super) fn answers() -> Vec<Sabotage> {
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
