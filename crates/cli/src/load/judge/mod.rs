//! Judges every answer that a crowd gets. It asks nothing itself: it is told what was asked and answered, when.
//!
//! Only what can be proved from outside counts as wrong. Instants are those of the crowd's own clock; an
//! answer was decided somewhere between the asking and the answering.

mod order;
mod rule;
mod sales;
mod seen;
#[cfg(test)]
mod tests;

use std::time::Duration;

use self::{
    order::{Heads, Joins, Stays},
    sales::Sales,
    seen::{Joined, Seen, Stay},
};
pub(crate) use self::{
    rule::{Rule, Wrong},
    sales::Sale,
};
use super::place::Place;

/// A moment of the run.
pub(crate) type At = Duration;

/// A question and its answer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Span {
    pub(crate) asked: At,
    pub(crate) answered: At,
}

/// What the gate said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Gate {
    /// 204.
    Open,
    /// 403: still waiting.
    Wait,
    /// 401.
    Refused,
}

/// Everything that was seen.
#[derive(Debug, Default)]
pub(crate) struct Judge {
    seen: Vec<Seen>,
    heads: Heads,
    sales: Sales,
    pub(crate) wrong: Wrong,
}

impl Judge {
    pub(crate) fn new(visitors: usize) -> Self {
        Self {
            seen: vec![Seen::default(); visitors],
            ..Self::default()
        }
    }

    /// A join was answered; it was first asked for at the span's beginning, perhaps repeatedly.
    pub(crate) fn joined(&mut self, who: usize, span: Span, place: &Place) {
        let ordinal = place.ordinal;
        self.seen[who].joined = Some(Joined { ordinal, span });
        self.seen[who].expected_by = span.answered;
        self.look(who, span, place);
    }

    /// A status was answered.
    pub(crate) fn polled(&mut self, who: usize, span: Span, place: &Place) {
        self.note_silence(who, span);
        self.look(who, span, place);
    }

    /// A place counts as absent only if it is silent for three of the intervals that it was told.
    fn note_silence(&mut self, who: usize, span: Span) {
        if span.asked > self.seen[who].expected_by {
            self.seen[who].may_be_absent = true;
        }
    }

    fn look(&mut self, who: usize, span: Span, place: &Place) {
        let seen = &mut self.seen[who];
        let told = seen.version;
        seen.version = seen.version.max(place.version);
        seen.expected_by = span.answered + 2 * place.poll_after;
        if place.version < told {
            let what = format!("version {} after {told}", place.version);
            self.wrong.add(Rule::VersionNeverFalls, who, &what);
        }
        let before = self.seen[who].joined.map(|joined| joined.ordinal);
        if let Some(before) = before.filter(|before| *before != place.ordinal) {
            let what = format!("ordinal {before} became {}", place.ordinal);
            self.wrong.add(Rule::OrdinalStays, who, &what);
        }
        if place.is_inside() {
            self.look_inside(who, span, place);
        } else {
            self.look_waiting(who, span, place);
        }
    }

    fn look_inside(&mut self, who: usize, span: Span, place: &Place) {
        if (place.position, place.ahead) != (0, 0) {
            let what = format!(
                "inside at position {}, {} ahead",
                place.position, place.ahead
            );
            self.wrong.add(Rule::PositionFits, who, &what);
        }
        let life = Duration::from_secs(place.remaining_s.unwrap_or_default());
        let seen = &mut self.seen[who];
        // Seconds are rounded up.
        seen.pass_until = (span.asked + life).saturating_sub(Duration::from_secs(1));
        (seen.ahead, seen.gate_opened) = (Some(0), false);
        self.is_inside(who, span);
        self.heads.admitted(place.ordinal, span.answered);
    }

    fn look_waiting(&mut self, who: usize, span: Span, place: &Place) {
        let Place {
            ordinal,
            position,
            ahead,
            before_line,
            ..
        } = *place;
        if position != ahead + 1 {
            let what = format!("position {position} with {ahead} ahead");
            self.wrong.add(Rule::PositionFits, who, &what);
        }
        if ahead >= ordinal {
            let what = format!("{ahead} ahead of {ordinal}");
            self.wrong.add(Rule::AheadFits, who, &what);
        }
        let seen = &mut self.seen[who];
        let before = seen.ahead.replace(ahead);
        let (was_inside, gate_opened) = (seen.inside.is_some(), seen.gate_opened);
        let may_be_absent = seen.may_be_absent;
        seen.gate_opened = false;
        if let Some(before) = before.filter(|before| *before < ahead) {
            let what = format!("{before} ahead became {ahead}");
            self.wrong.add(Rule::AheadNeverRises, who, &what);
        }
        if gate_opened {
            let what = "the gate opened, and the place still waits";
            self.wrong.add(Rule::GateHolds, who, what);
        } else if was_inside {
            let what = "was inside, and waits again";
            self.wrong.add(Rule::PlaceStays, who, what);
        }
        let Some(head) = self.heads.before(span.asked) else {
            return;
        };
        // Those before the line who go in first have lower ordinals, also than some who are inside.
        if !before_line && ordinal > head && ahead > ordinal - 1 - head {
            let what = format!("{ahead} ahead of {ordinal}, but {head} was inside already");
            self.wrong.add(Rule::AheadFits, who, &what);
        }
        // It may be back after a missed turn, and go in before the line.
        if ordinal < head && !(before_line && may_be_absent) {
            let what = format!("{ordinal} waits with {ahead} ahead, but {head} was inside already");
            self.wrong.add(Rule::AdmittedInOrder, who, &what);
        }
    }

    /// The visitor stops asking for a while.
    pub(crate) fn closed_the_tab(&mut self, who: usize) {
        self.seen[who].may_be_absent = true;
    }

    /// The gate was asked.
    pub(crate) fn at_gate(&mut self, who: usize, span: Span, gate: Gate) {
        let seen = &mut self.seen[who];
        let broken = match (seen.ended, seen.inside.is_some(), gate) {
            (true, _, Gate::Refused) | (false, false, Gate::Wait) => None,
            (true, _, _) => Some(Rule::EndedStaysEnded),
            (false, true, Gate::Open) => {
                self.is_inside(who, span);
                None
            }
            (false, true, _) if span.answered >= seen.pass_until => None,
            (false, true, _) => Some(Rule::GateOpens),
            (false, false, Gate::Open) => {
                seen.gate_opened = true;
                None
            }
            (false, false, Gate::Refused) if seen.may_be_absent => None,
            (false, false, Gate::Refused) => Some(Rule::PlaceStays),
        };
        if let Some(rule) = broken {
            self.wrong
                .add(rule, who, &format!("the gate said {gate:?}"));
        }
    }

    /// A status was refused because the place has ended.
    pub(crate) fn lost(&mut self, who: usize, span: Span, answer: &str) {
        self.note_silence(who, span);
        let seen = &self.seen[who];
        let ran_out = seen.inside.is_some() && span.answered >= seen.pass_until;
        if !seen.ended && !seen.may_be_absent && !ran_out {
            let what = format!("is here, and its place is not: {answer}");
            self.wrong.add(Rule::PlaceStays, who, &what);
        }
        self.seen[who].ended = true;
    }

    /// The place was given up, the pass finished, or its time is over.
    pub(crate) fn ended(&mut self, who: usize) {
        self.seen[who].ended = true;
    }

    /// A seat was paid for.
    pub(crate) fn sold(&mut self, who: usize, sale: Sale) {
        self.sales.add(who, sale, &mut self.wrong);
    }

    /// An answer that no rule above is about.
    pub(crate) fn wrong(&mut self, rule: Rule, who: usize, what: &str) {
        self.wrong.add(rule, who, what);
    }

    /// What can be judged only when everything is known; the cap only if it is known.
    pub(crate) fn close(&mut self, cap: Option<u64>) -> Closing {
        let joins = Joins::of(&self.seen);
        joins.check(&mut self.wrong);
        let most = Stays::of(&self.seen).most_at_once();
        if let (Some(cap), Some((who, most))) = (cap, most)
            && most > cap
        {
            let what = format!("{most} were inside at once, the cap is {cap}");
            self.wrong.add(Rule::CapHolds, who, &what);
        }
        Closing {
            most_inside: most.map_or(0, |(_, most)| most),
        }
    }

    fn is_inside(&mut self, who: usize, span: Span) {
        let from = self.seen[who]
            .inside
            .map_or(span.answered, |stay| stay.from);
        let to = span.asked.max(from);
        self.seen[who].inside = Some(Stay { from, to });
    }
}

/// What the end of a run shows beside what is wrong.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Closing {
    /// As many were certainly inside at one moment.
    pub(crate) most_inside: u64,
}
