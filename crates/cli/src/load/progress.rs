//! How a run is doing, while it is.

use std::{
    io::{self, IsTerminal, Write},
    time::Duration,
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::{
    crowd::Crowd,
    place::{Place, Standing},
    tally::{Stage, Tally},
};
use crate::units::{grouped, spoken};

/// Between two pictures on a terminal, and two lines elsewhere.
const REDRAW: Duration = Duration::from_millis(250);
const LINE: Duration = Duration::from_secs(5);

/// Where progress is shown.
pub(crate) enum Progress {
    /// A bar that is drawn anew.
    Bar(ProgressBar),
    /// A line now and then, beside the report.
    Lines,
    /// A line now and then on standard error, since the report is for a program.
    Aside,
}

impl Progress {
    pub(crate) fn new(visitors: u64, report_is_json: ReportFor) -> Self {
        match report_is_json {
            ReportFor::Programs => Self::Aside,
            ReportFor::People if io::stdout().is_terminal() => Self::Bar(bar(visitors)),
            ReportFor::People => Self::Lines,
        }
    }

    /// Shows how it goes, until it is dropped.
    pub(crate) async fn follow(&self, mut look: impl FnMut() -> Picture) {
        let pause = match self {
            Self::Bar(_) => REDRAW,
            Self::Lines | Self::Aside => LINE,
        };
        loop {
            tokio::time::sleep(pause).await;
            self.show(&look());
        }
    }

    /// Shows how a crowd is doing.
    pub(crate) async fn follow_crowd(&self, crowd: &Crowd) {
        let mut pace = Pace::default();
        self.follow(|| {
            let wrong = crowd.judge().wrong.total();
            let now = crowd.now();
            let tally = crowd.tally();
            let answers = answers(pace.rate(now, tally.answers), wrong);
            Picture {
                now,
                done: tally.done() as u64,
                parts: vec![people(&tally), answers, example(&tally)],
            }
        })
        .await;
    }

    fn show(&self, picture: &Picture) {
        let Picture { now, done, parts } = picture;
        match self {
            Self::Bar(bar) => {
                bar.set_message(parts.join("\n"));
                bar.set_position(*done);
            }
            Self::Lines => line(io::stdout().lock(), *now, parts),
            Self::Aside => line(io::stderr().lock(), *now, parts),
        }
    }

    pub(crate) fn end(&self) {
        if let Self::Bar(bar) = self {
            bar.finish_and_clear();
        }
    }
}

/// How a run is doing at a moment.
#[derive(Debug)]
pub(crate) struct Picture {
    pub(crate) now: Duration,
    /// How far the bar goes.
    pub(crate) done: u64,
    /// A line each on a terminal.
    pub(crate) parts: Vec<String>,
}

/// How fast a count grows from one picture to the next.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    before: (Duration, u64),
}

impl Pace {
    pub(crate) fn rate(&mut self, now: Duration, count: u64) -> u64 {
        let (then, counted) = std::mem::replace(&mut self.before, (now, count));
        rate(count.saturating_sub(counted), now.saturating_sub(then))
    }
}

/// Who reads the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReportFor {
    People,
    Programs,
}

fn bar(visitors: u64) -> ProgressBar {
    let target = ProgressDrawTarget::stdout();
    let style = ProgressStyle::with_template("{bar:50} {pos}/{len} done, {elapsed}\n{msg}");
    ProgressBar::with_draw_target(Some(visitors), target)
        .with_style(style.expect("a template that the tests have drawn"))
}

/// A reader that went away misses nothing but progress.
fn line(mut out: impl Write, now: Duration, parts: &[String]) {
    let now = Duration::from_secs(now.as_secs());
    writeln!(out, "{:>7}  {}", spoken(now), parts.join("; ")).ok();
}

fn people(tally: &Tally) -> String {
    let count = |stage| grouped(tally.count(stage));
    format!(
        "{} joined, {} waiting, {} inside, {} through, {} left, {} away or gone",
        grouped(tally.visitors() - tally.count(Stage::Coming)),
        count(Stage::Waiting),
        count(Stage::Inside),
        count(Stage::Through),
        count(Stage::Left),
        grouped(tally.count(Stage::Away) + tally.count(Stage::Gone)),
    )
}

pub(crate) fn answers(rate: u64, wrong: u64) -> String {
    format!("{} answers/s, {} wrong", grouped(rate), grouped(wrong))
}

/// The line as one visitor sees it.
fn example(tally: &Tally) -> String {
    let number = tally.example_number();
    match &tally.example {
        None => format!("visitor {number} is yet to come"),
        Some(place) => format!("visitor {number}: {}", view_of(place)),
    }
}

fn view_of(place: &Place) -> String {
    match place.standing {
        Standing::Inside { .. } => "let in".into(),
        Standing::Waiting(None) => format!("{} ahead", grouped(place.ahead)),
        Standing::Waiting(Some(estimate)) => format!(
            "{} ahead, about {}",
            grouped(place.ahead),
            spoken(estimate.wait)
        ),
    }
}

fn rate(answers: u64, over: Duration) -> u64 {
    let millis = u64::try_from(over.as_millis()).unwrap_or(u64::MAX).max(1);
    answers.saturating_mul(1_000) / millis
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::place::tests::{inside_view, waiting_view};

    #[test]
    fn the_bar_has_a_template_that_can_be_drawn() {
        bar(5).finish_and_clear();
    }

    #[test]
    fn one_visitor_in_the_middle_is_followed() {
        let mut tally = Tally::new(11);
        assert_eq!(example(&tally), "visitor 5 is yet to come");
        tally.told(5, &Place::read(&waiting_view(1_300, 1_208)).unwrap());
        assert_eq!(example(&tally), "visitor 5: 1,208 ahead, about 35s");
        tally.told(4, &Place::read(&waiting_view(1, 0)).unwrap());
        tally.told(5, &Place::read(&inside_view(1_300)).unwrap());
        assert_eq!(example(&tally), "visitor 5: let in");
    }

    #[test]
    fn rates_are_per_second() {
        assert_eq!(rate(500, Duration::from_millis(250)), 2_000);
        assert_eq!(rate(0, Duration::ZERO), 0);
    }
}
