//! The report, for people.

use std::fmt::{self, Display, Formatter, Write as _};

use super::{
    plan::Scenario,
    report::{Delay, Generator, Report, StepFigures},
};
use crate::{
    load::{
        latency::Latency,
        tally::Question,
        text::{line, verdict},
    },
    units::grouped,
};

impl Display for Report {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} at {} in {} s: {} answers, {} a second\n",
            self.scenario,
            self.url,
            self.seconds,
            grouped(self.answers),
            self.answers_per_second
        )?;
        heading(f, "ms")?;
        for (question, latency) in &self.latency {
            row(f, &question.to_string(), latency)?;
        }
        if !self.steps.is_empty() {
            steps(f, &self.steps)?;
        }
        writeln!(f)?;
        write!(f, "{}", self.generator)?;
        if let Some(visitors) = &self.visitors {
            let text = format!(
                "{} of {} through, {} still there at the end, {} failed",
                grouped(visitors.through),
                grouped(visitors.all),
                grouped(visitors.dismissed),
                grouped(visitors.failed)
            );
            line(f, "visitors", &text)?;
        }
        if let Some(sales) = &self.sales {
            let text = format!(
                "{} seats bought, {} buyers found none",
                grouped(sales.seats),
                grouped(sales.without)
            );
            line(f, "sales", &text)?;
        }
        self.troubles(f)?;
        verdict(f, &self.wrong, self.answers)
    }
}

impl Report {
    fn troubles(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.put_off.rate_limited > 0 {
            let text = format!(
                "{} times 429: the server limits joins by address; for a test set joins_per_minute = 0 in its [rate_limits]",
                grouped(self.put_off.rate_limited)
            );
            line(f, "put off", &text)?;
        }
        if self.put_off.busy > 0 {
            let count = grouped(self.put_off.busy);
            let text =
                format!("{count} times 503: the store was away, or the room full (waiting_max)");
            line(f, "put off", &text)?;
        }
        if self.unanswered > 0 {
            let count = grouped(self.unanswered);
            line(f, "unanswered", &format!("{count} times; asked again"))?;
        }
        Ok(())
    }
}

impl Display for Generator {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let text = format!(
            "{} of {} sent, {} a second planned; {}",
            grouped(self.sent),
            grouped(self.planned),
            self.planned_per_second,
            self.late.told("late")
        );
        line(f, "schedule", &text)?;
        let mut text = format!(
            "{} at the most on {} connections; {}",
            grouped(self.in_flight_most),
            self.connections,
            self.waited_for_connection.told("waited for one")
        );
        if self.in_flight_left > 0 {
            let left = grouped(self.in_flight_left);
            write!(text, "; {left} not answered in the end")?;
        }
        line(f, "in flight", &text)
    }
}

impl Delay {
    fn told(&self, what: &str) -> String {
        let Self {
            count,
            p99_ms,
            max_ms,
        } = self;
        format!(
            "{} {what} by more than 1 ms (p99 {p99_ms} ms, {max_ms} ms at the most)",
            grouped(count)
        )
    }
}

fn steps(f: &mut Formatter<'_>, steps: &[StepFigures]) -> fmt::Result {
    writeln!(f)?;
    heading(f, "per second")?;
    for step in steps {
        row(f, &step.per_second.to_string(), &step.latency)?;
    }
    Ok(())
}

const COLUMNS: [&str; 7] = ["count", "mean", "p50", "p90", "p99", "p99.9", "max"];

fn heading(f: &mut Formatter<'_>, first: &str) -> fmt::Result {
    write!(f, "{first:<11}")?;
    for column in COLUMNS {
        write!(f, " {column:>10}")?;
    }
    writeln!(f)
}

fn row(f: &mut Formatter<'_>, name: &str, latency: &Latency) -> fmt::Result {
    let Latency {
        count,
        mean_ms,
        p50_ms,
        p90_ms,
        p99_ms,
        p999_ms,
        max_ms,
    } = latency;
    write!(f, "{name:<11} {:>10}", grouped(count))?;
    for figure in [mean_ms, p50_ms, p90_ms, p99_ms, p999_ms, max_ms] {
        write!(f, " {figure:>10.2}")?;
    }
    writeln!(f)
}

impl Display for Scenario {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Herd => "herd",
            Self::Poll => "poll",
            Self::Journey => "journey",
            Self::Ramp => "ramp",
        })
    }
}

impl Display for Question {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let name = serde_json::to_value(self).unwrap_or_default();
        f.write_str(name.as_str().unwrap_or_default())
    }
}
