//! How long things took.

use std::time::Duration;

use hdrhistogram::Histogram;
use serde::Serialize;

use super::stats::float;

/// Longer than anybody waits for an answer here; what takes longer counts as this.
const LONGEST: Duration = Duration::from_secs(600);
/// Figures of a report are right to so many digits.
const DIGITS: u8 = 3;
/// What a timer and a busy core cost anyway. Only what takes longer is worth a word.
pub(crate) const NOTABLE: Duration = Duration::from_millis(1);

/// Spans of time, of which only the distribution is kept.
#[derive(Debug, Clone)]
pub(crate) struct Spread {
    micros: Histogram<u64>,
    /// How many were longer than [`NOTABLE`].
    pub(crate) notable: u64,
}

/// A distribution in figures.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Latency {
    pub(crate) count: u64,
    pub(crate) mean_ms: f64,
    pub(crate) p50_ms: f64,
    pub(crate) p90_ms: f64,
    pub(crate) p99_ms: f64,
    #[serde(rename = "p999Ms")]
    pub(crate) p999_ms: f64,
    pub(crate) max_ms: f64,
}

impl Default for Spread {
    fn default() -> Self {
        Self {
            micros: Histogram::new_with_max(micros(LONGEST), DIGITS)
                .expect("bounds that the tests have tried"),
            notable: 0,
        }
    }
}

impl Spread {
    pub(crate) fn add(&mut self, took: Duration) {
        self.micros.saturating_record(micros(took));
        self.notable += u64::from(took > NOTABLE);
    }

    pub(crate) fn count(&self) -> u64 {
        self.micros.len()
    }

    pub(crate) fn figures(&self) -> Latency {
        let at = |part| millis(self.micros.value_at_quantile(part));
        Latency {
            count: self.micros.len(),
            mean_ms: hundredth(self.micros.mean() / 1_000.0),
            p50_ms: at(0.5),
            p90_ms: at(0.9),
            p99_ms: at(0.99),
            p999_ms: at(0.999),
            max_ms: millis(self.micros.max()),
        }
    }
}

fn micros(span: Duration) -> u64 {
    u64::try_from(span.as_micros()).unwrap_or(u64::MAX)
}

fn millis(micros: u64) -> f64 {
    hundredth(float(usize::try_from(micros).unwrap_or(usize::MAX)) / 1_000.0)
}

fn hundredth(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(spans_ms: impl IntoIterator<Item = u64>) -> Latency {
        let mut spread = Spread::default();
        for ms in spans_ms {
            spread.add(Duration::from_millis(ms));
        }
        spread.figures()
    }

    #[test]
    fn quantiles_are_right_to_three_digits() {
        let figures = figures(1..=1_000);
        assert_eq!(figures.count, 1_000);
        for (told, real) in [
            (figures.mean_ms, 500.5),
            (figures.p50_ms, 500.0),
            (figures.p90_ms, 900.0),
            (figures.p99_ms, 990.0),
            (figures.p999_ms, 999.0),
            (figures.max_ms, 1_000.0),
        ] {
            assert!((told - real).abs() <= real / 1_000.0, "{told} for {real}");
        }
    }

    #[test]
    fn nothing_is_all_zero_and_a_day_is_the_longest() {
        assert!(figures([]).max_ms.abs() < f64::EPSILON);
        assert!(figures([86_400_000]).max_ms >= 600_000.0);
    }
}
