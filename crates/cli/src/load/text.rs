//! The report, for people.

use std::fmt::{self, Display, Formatter, Write as _};

use super::{
    estimates::Quality,
    judge::Wrong,
    latency::Latency,
    report::{Admissions, Estimates, Questions, Report, Visitors, Waits},
};
use crate::units::grouped;

impl Display for Report {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} visitors at {} in {} s\n",
            self.visitors.all, self.url, self.seconds
        )?;
        write!(f, "{}{}", self.visitors, self.questions)?;
        if let Some(admissions) = &self.admissions {
            write!(f, "{admissions}")?;
        }
        let cap = match self.cap {
            Some(cap) => format!("the cap is {cap}"),
            None => "the cap is not known: give --cap, or the admin key".into(),
        };
        line(
            f,
            "inside",
            &format!("{} seen at once; {cap}", self.most_inside),
        )?;
        if let Some(waits) = &self.waits {
            write!(f, "{waits}")?;
        }
        write!(f, "{}", self.estimates)?;
        verdict(f, &self.wrong, self.questions.answers)
    }
}

/// Whether all answers were right, and which were not.
pub(crate) fn verdict(f: &mut Formatter<'_>, wrong: &Wrong, answers: u64) -> fmt::Result {
    if wrong.total() == 0 {
        let answers = grouped(answers);
        return writeln!(f, "\nall answers were right ({answers} of them)");
    }
    writeln!(f, "\nwrong answers: {}", grouped(wrong.total()))?;
    for (rule, count) in &wrong.counts {
        writeln!(f, "  {count:>6}  {rule}")?;
    }
    writeln!(f, "the first of them:")?;
    for wrong in &wrong.first {
        writeln!(f, "  {wrong}")?;
    }
    Ok(())
}

impl Display for Visitors {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut text = format!(
            "{} through, {} left the line, {} closed the tab for good or came back too late",
            grouped(self.through),
            grouped(self.left),
            grouped(self.gone)
        );
        for (count, what) in [
            (self.dismissed, "still there at the end"),
            (self.failed, "without an answer to go on with"),
        ] {
            if count > 0 {
                write!(text, ", {} {what}", grouped(count))?;
            }
        }
        line(f, "visitors", &text)
    }
}

impl Display for Questions {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let latency = |latency: &Latency| {
            let count = grouped(latency.count);
            format!(
                "{count}, p50 {} ms, p99 {} ms",
                latency.p50_ms, latency.p99_ms
            )
        };
        line(f, "joins", &latency(&self.joins))?;
        line(f, "polls", &latency(&self.polls))?;
        line(f, "gate", &format!("{} questions", grouped(self.gates)))?;
        let mut text = format!(
            "{}, {} a second",
            grouped(self.answers),
            self.answers_per_second
        );
        if self.put_off + self.unanswered > 0 {
            write!(
                text,
                "; {} times told to come back, {} times no answer",
                self.put_off, self.unanswered
            )?;
        }
        line(f, "answers", &text)
    }
}

impl Display for Admissions {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let text = format!(
            "{}, {} a second; {} waves of {} (median), {} at the most",
            grouped(self.all),
            self.per_second,
            grouped(self.waves),
            self.median_wave,
            self.largest_wave
        );
        line(f, "admissions", &text)
    }
}

impl Display for Waits {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let text = format!("p50 {} s, p90 {} s, max {} s", self.p50, self.p90, self.max);
        line(f, "waits", &text)
    }
}

impl Display for Estimates {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Some(all) = &self.all else {
            return line(
                f,
                "estimates",
                "nobody waited to the end, so there is nothing to compare",
            );
        };
        let bias = match all.bias_seconds {
            late if late >= 0.1 => format!("{late} s later than told"),
            early if early <= -0.1 => format!("{} s earlier than told", -early),
            _ => "neither early nor late".into(),
        };
        let text = format!(
            "first estimate against real wait of {} visitors: off by {} s (median) or {}%, {} s (mean) or {}%",
            grouped(all.visitors),
            all.median_error_seconds,
            all.median_error_percent,
            all.mean_error_seconds,
            all.mean_error_percent
        );
        line(f, "estimates", &text)?;
        let text = format!(
            "{}% within the band; turns came {bias} on average\n",
            all.in_band_percent
        );
        line(f, "", &text)?;
        table(f, &self.by_tenth)
    }
}

/// One line for each tenth of the visitors, by how long they waited.
fn table(f: &mut Formatter<'_>, tenths: &[Quality]) -> fmt::Result {
    writeln!(
        f,
        "  {:>15}  {:>8}  {:>11}  {:>8}  {:>7}  {:>7}",
        "real wait (s)", "visitors", "median off", "(%)", "in band", "bias"
    )?;
    for tenth in tenths {
        writeln!(
            f,
            "  {:>15}  {:>8}  {:>9} s  {:>7}%  {:>6}%  {:>+5} s",
            format!("{}–{}", tenth.from_seconds, tenth.to_seconds),
            tenth.visitors,
            tenth.median_error_seconds,
            tenth.median_error_percent,
            tenth.in_band_percent,
            tenth.bias_seconds
        )?;
    }
    Ok(())
}

pub(crate) fn line(f: &mut Formatter<'_>, name: &str, text: &str) -> fmt::Result {
    writeln!(f, "{name:<11} {text}")
}
