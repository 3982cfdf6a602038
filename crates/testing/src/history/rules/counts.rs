//! Conservation: nobody appears and nobody vanishes.

use std::time::Duration;

use super::{Rule, Violation};
use crate::history::{
    evidence::Evidence,
    record::{At, Counts, Op, Outcome, Record},
};

/// As long as it takes every node to hear of the last change.
const CALM: Duration = Duration::from_secs(1);

/// W8: while nothing moves, what operators are told adds up, and agrees with what visitors were told.
pub(super) fn add_up(evidence: &Evidence<'_>) -> Vec<Violation> {
    let audits: Vec<_> = quiet_audits(evidence).collect();
    audits
        .into_iter()
        .flat_map(|(counts, audit)| {
            let wrong = differences(evidence, &counts, audit.t0).into_iter();
            wrong.map(move |what| Rule::W8.broken(format!("{what} ({counts:?})"), [audit]))
        })
        .collect()
}

/// The later of two audits in a row that say the same while nobody asks for anything.
fn quiet_audits<'h>(evidence: &Evidence<'h>) -> impl Iterator<Item = (Counts, &'h Record)> {
    let records = &evidence.history.records;
    let pairs = records.windows(2).filter_map(|pair| {
        let (first, second) = (pair[0].counts?, pair[1].counts?);
        (first == second).then_some((second, &pair[0], &pair[1]))
    });
    pairs.filter_map(|(counts, first, second)| {
        let from = first.t0.saturating_sub(CALM);
        let others = records.iter().filter(|record| record.op != Op::Audit);
        let mut stir = others.filter(|record| record.t0 <= second.t1 && from <= record.t1);
        let calm = stir.next().is_none() && second.t0 >= first.t0 + CALM;
        calm.then_some((counts, second))
    })
}

fn differences(evidence: &Evidence<'_>, counts: &Counts, at: At) -> Vec<String> {
    let known = Known::at(evidence, at);
    let mut wrong = Vec::new();
    let mut check = |fine: bool, what: String| {
        if !fine {
            wrong.push(what);
        }
    };
    check(
        known.highest <= counts.issued,
        format!("ordinal {} was given", known.highest),
    );
    check(
        known.live <= counts.live(),
        format!("{} are certainly here", known.live),
    );
    // Counters and places that were forgotten come back only when somebody asks.
    if !evidence.store_forgot(At::ZERO, at) {
        check(
            counts.issued == counts.live() + counts.ended,
            "those who came are not those who are here or have ended".into(),
        );
        check(
            counts.issued <= known.highest.max(known.acknowledged) + known.unknown,
            format!(
                "{} joins were answered, {} not",
                known.acknowledged, known.unknown
            ),
        );
        check(
            known.inside <= counts.active,
            format!("{} are certainly inside", known.inside),
        );
        check(
            counts.admitted == counts.active + counts.departed,
            "those who came in are not those who are inside or went out".into(),
        );
        check(
            known.let_in <= counts.admitted,
            format!("{} were certainly let in", known.let_in),
        );
        check(
            known.ended <= counts.ended,
            format!("{} have certainly ended", known.ended),
        );
    }
    wrong
}

/// What the visitors know at a moment.
struct Known {
    highest: u64,
    acknowledged: u64,
    /// Joins that may have been done.
    unknown: u64,
    live: u64,
    inside: u64,
    /// Seen inside at some time.
    let_in: u64,
    ended: u64,
}

impl Known {
    fn at(evidence: &Evidence<'_>, at: At) -> Self {
        let count = |is: &dyn Fn(&Record) -> bool| {
            let records = evidence.history.records.iter();
            records
                .filter(|record| record.t0 <= at && is(record))
                .count() as u64
        };
        let joins = |outcome| {
            count(&move |record: &Record| record.op == Op::Join && record.outcome == outcome)
        };
        let mut known = Self {
            highest: 0,
            acknowledged: evidence.stories.len() as u64,
            unknown: joins(Outcome::Unknown),
            live: 0,
            inside: 0,
            let_in: 0,
            ended: 0,
        };
        let forgettings = evidence.forgettings().filter(|outage| outage.from <= at);
        let forgot_at = forgettings.map(|outage| outage.to).max();
        let forgot_at = forgot_at.unwrap_or_default();
        for story in &evidence.stories {
            known.highest = known.highest.max(story.ordinal);
            let over = story.ends().next().is_some();
            let asked_since = story.records.iter().any(|record| record.t0 >= forgot_at);
            let live = asked_since && !over && !evidence.may_be_over(story, at);
            let let_in = story.inside().next().is_some();
            known.ended += u64::from(over);
            known.live += u64::from(live);
            known.inside += u64::from(live && let_in);
            known.let_in += u64::from(let_in);
        }
        known
    }
}
