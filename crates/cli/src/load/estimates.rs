//! How good the first estimates were, compared with what came.

use serde::Serialize;

use super::{
    place::Estimate,
    stats::{mean, quantile, share, sorted, tenth},
};

/// What somebody was told at joining, and how long it took; both by the server's own times of day.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wait {
    pub(crate) told: Estimate,
    pub(crate) real_s: f64,
}

/// A comparison over many waits.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Quality {
    pub(crate) visitors: usize,
    /// The shortest and the longest real wait.
    pub(crate) from_seconds: f64,
    pub(crate) to_seconds: f64,
    pub(crate) median_error_seconds: f64,
    pub(crate) mean_error_seconds: f64,
    /// Of the real wait.
    pub(crate) median_error_percent: f64,
    pub(crate) mean_error_percent: f64,
    pub(crate) in_band_percent: f64,
    /// Above 0, turns came later than told.
    pub(crate) bias_seconds: f64,
}

impl Wait {
    fn error_s(&self) -> f64 {
        self.late_s().abs()
    }

    /// How much later than told the turn came.
    fn late_s(&self) -> f64 {
        self.real_s - self.told.wait.as_secs_f64()
    }

    fn error_percent(&self) -> f64 {
        // A wait of less than a second cannot be told better than to the second.
        100.0 * self.error_s() / self.real_s.max(1.0)
    }

    /// The ends are told in whole seconds, rounded outwards.
    fn is_in_band(&self) -> bool {
        let Estimate { low, high, .. } = self.told;
        (low.as_secs_f64()..=high.as_secs_f64()).contains(&self.real_s)
    }
}

impl Quality {
    /// `None` if nobody waited.
    pub(crate) fn of(waits: &[Wait]) -> Option<Self> {
        let real = sorted(waits.iter().map(|wait| wait.real_s).collect());
        let errors = sorted(waits.iter().map(Wait::error_s).collect());
        let percents = sorted(waits.iter().map(Wait::error_percent).collect());
        let in_band = waits.iter().filter(|wait| wait.is_in_band()).count();
        Some(Self {
            visitors: waits.len(),
            from_seconds: tenth(*real.first()?),
            to_seconds: tenth(*real.last()?),
            median_error_seconds: tenth(quantile(&errors, 0.5)?),
            mean_error_seconds: tenth(mean(errors.iter().copied())),
            median_error_percent: tenth(quantile(&percents, 0.5)?),
            mean_error_percent: tenth(mean(percents.iter().copied())),
            in_band_percent: tenth(100.0 * share(in_band, waits.len())),
            bias_seconds: tenth(mean(waits.iter().map(Wait::late_s))),
        })
    }

    /// The same for each tenth of the visitors, from the shortest waits to the longest.
    pub(crate) fn by_tenth(waits: &[Wait]) -> Vec<Self> {
        let mut waits = waits.to_vec();
        waits.sort_by(|one, other| one.real_s.total_cmp(&other.real_s));
        let size = waits.len().div_ceil(10).max(1);
        waits.chunks(size).filter_map(Self::of).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn wait(told: u64, real_s: f64) -> Wait {
        let told = Estimate {
            wait: Duration::from_secs(told),
            low: Duration::from_secs(told.saturating_sub(5)),
            high: Duration::from_secs(told + 5),
        };
        Wait { told, real_s }
    }

    #[test]
    fn early_and_late_turns_are_errors_and_cancel_only_in_the_bias() {
        let quality = Quality::of(&[wait(100, 110.0), wait(100, 90.0)]).unwrap();
        let near = |value: f64, wanted: f64| assert!((value - wanted).abs() < 0.01, "{value}");
        near(quality.mean_error_seconds, 10.0);
        near(quality.bias_seconds, 0.0);
        near(quality.in_band_percent, 0.0);
        near(quality.mean_error_percent, 10.1);
        let late = Quality::of(&[wait(100, 104.0)]).unwrap();
        near(late.bias_seconds, 4.0);
        near(late.in_band_percent, 100.0);
    }

    #[test]
    fn tenths_go_from_short_waits_to_long_ones() {
        let waits: Vec<_> = (0..100_u32)
            .rev()
            .map(|s| wait(s.into(), s.into()))
            .collect();
        let tenths = Quality::by_tenth(&waits);
        assert_eq!(tenths.len(), 10);
        assert!(tenths.is_sorted_by(|one, next| one.to_seconds < next.from_seconds));
        assert!(Quality::by_tenth(&[]).is_empty());
        assert!(Quality::of(&[]).is_none());
    }
}
