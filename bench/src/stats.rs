//! Medians, spreads and percentiles.

use std::time::Duration;

/// The repetitions of one measurement, sorted.
#[derive(Debug, Clone, Default)]
pub(crate) struct Samples(Vec<f64>);

impl Samples {
    pub(crate) fn median(&self) -> f64 {
        quantile(&self.0, 0.5)
    }

    pub(crate) fn min(&self) -> f64 {
        quantile(&self.0, 0.0)
    }

    pub(crate) fn max(&self) -> f64 {
        quantile(&self.0, 1.0)
    }

    /// `min..max` as the tables show it.
    pub(crate) fn spread(&self, show: impl Fn(f64) -> String) -> String {
        format!("{}..{}", show(self.min()), show(self.max()))
    }
}

impl FromIterator<f64> for Samples {
    fn from_iter<I: IntoIterator<Item = f64>>(values: I) -> Self {
        let mut values: Vec<f64> = values.into_iter().collect();
        values.sort_by(f64::total_cmp);
        Self(values)
    }
}

/// The answers of a closed loop, as they come in.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tally {
    /// Microseconds: four bytes per answer keep the recording cheap.
    pub(crate) waits: Vec<u32>,
    pub(crate) elapsed: Duration,
}

impl Tally {
    /// Joins a later slice of the same repetition to this one.
    pub(crate) fn append(&mut self, mut later: Self) {
        self.waits.append(&mut later.waits);
        self.elapsed += later.elapsed;
    }
}

/// What one repetition came to.
#[derive(Debug, Clone)]
pub(crate) struct Run {
    pub(crate) answers: usize,
    pub(crate) per_second: f64,
    pub(crate) p50: Duration,
    pub(crate) p99: Duration,
    pub(crate) max: Duration,
}

impl From<Tally> for Run {
    fn from(Tally { mut waits, elapsed }: Tally) -> Self {
        waits.sort_unstable();
        let at = |quantile| {
            let index = index_of(waits.len(), quantile);
            Duration::from_micros(waits.get(index).copied().unwrap_or(0).into())
        };
        Self {
            answers: waits.len(),
            per_second: count(waits.len()) / elapsed.as_secs_f64(),
            p50: at(0.5),
            p99: at(0.99),
            max: at(1.0),
        }
    }
}

/// A wait of more than an hour is not told apart from an hour.
pub(crate) fn micros(wait: Duration) -> u32 {
    u32::try_from(wait.as_micros()).unwrap_or(u32::MAX)
}

#[expect(clippy::cast_precision_loss, reason = "no run counts to 2^52")]
pub(crate) fn count(number: usize) -> f64 {
    number as f64
}

/// Zero where nothing was measured, so that a table with a hole is still a table.
fn quantile(sorted: &[f64], quantile: f64) -> f64 {
    sorted
        .get(index_of(sorted.len(), quantile))
        .copied()
        .unwrap_or(0.0)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share of a length is an index"
)]
fn index_of(len: usize, quantile: f64) -> usize {
    (count(len.saturating_sub(1)) * quantile).round() as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle_whatever_the_order() {
        let samples: Samples = [9.0, 1.0, 5.0].into_iter().collect();
        assert_eq!(
            (samples.min(), samples.median(), samples.max()),
            (1.0, 5.0, 9.0)
        );
    }

    #[test]
    fn percentiles_are_waits_that_occurred() {
        let run = Run::from(Tally {
            waits: (1..=1000).rev().collect(),
            elapsed: Duration::from_secs(2),
        });
        assert_eq!(run.p50, Duration::from_micros(501));
        assert_eq!(run.p99, Duration::from_micros(990));
        assert_eq!(run.max, Duration::from_millis(1));
        assert!((run.per_second - 500.0).abs() < 1e-6);
    }
}
