//! How many a service can bear: from measured requests per second to `batch`, `every` and `active_max`.
//!
//! Everything is counted in whole numbers, so that `660 ÷ (2 × 1.5) × 10` is 2200 and never 2199.

use std::{fmt, str::FromStr, time::Duration};

use thiserror::Error;

use crate::time::millis;

/// One, in the millionths that a [`Decimal`] counts.
const ONE: u64 = 1_000_000;
/// Decimals have at most this many digits behind the point.
const DIGITS: usize = 6;
/// Larger figures are typing mistakes, and products of smaller ones fit into 128 bits.
const DECIMAL_MAX: u64 = 1_000_000_000;
/// The longest tick that a policy takes.
const EVERY_MAX: Duration = Duration::from_secs(30 * 24 * 3600);

/// A number with up to six digits behind the point, held exactly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Decimal(u64);

/// Why a text is not a [`Decimal`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error(
    "must be a number such as 20 or 1.5, up to 1000000000, with at most 6 digits behind the point"
)]
pub struct DecimalError;

/// What was measured at the service, and how often people are to be let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capacity {
    /// Requests that the service bears per second.
    pub tps: Decimal,
    /// Requests that one visitor makes from entering to leaving.
    pub calls: Decimal,
    /// How many times each of them is made on average, with repetitions after failures.
    pub retry: Decimal,
    /// Per cent of `tps` that stay unused.
    pub headroom: Decimal,
    /// The tick.
    pub every: Duration,
}

/// Why figures give no plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum PlanError {
    /// The service bears nothing.
    #[error("tps must be above 0: measure how many requests per second your service bears")]
    NoCapacity,
    /// A visitor asks for nothing.
    #[error("calls must be above 0: count the requests of one visitor from entering to leaving")]
    NoCalls,
    /// Fewer than every request is made once.
    #[error(
        "retry must be at least 1: it is how many times a request is made, 1 without repetitions"
    )]
    RetryBelowOne,
    /// Nothing is left for visitors.
    #[error("headroom must be below 100%: nothing is left to let people in with")]
    NothingLeft,
    /// The tick has no length, or is longer than a policy takes.
    #[error("every must be from 100ms to 30d")]
    EveryOutOfRange,
    /// Not even one per tick.
    #[error("not even one visitor fits into this tick")]
    LessThanOne {
        /// The shortest tick of whole seconds in which one fits, if a policy takes such a long one.
        shortest: Option<Duration>,
    },
}

impl Capacity {
    /// How many to let in per tick: `tps × every ÷ (calls × retry)`, less the headroom, rounded down.
    pub fn batch(&self) -> Result<u64, PlanError> {
        self.check()?;
        let every_ms = u128::from(millis(self.every));
        let batch = self.requests_per_ms() * every_ms / self.requests_per_visitor();
        if batch == 0 {
            return Err(PlanError::LessThanOne {
                shortest: self.shortest_tick(),
            });
        }
        Ok(u64::try_from(batch).unwrap_or(u64::MAX))
    }

    fn check(&self) -> Result<(), PlanError> {
        if self.tps.0 == 0 {
            Err(PlanError::NoCapacity)
        } else if self.calls.0 == 0 {
            Err(PlanError::NoCalls)
        } else if self.retry.0 < ONE {
            Err(PlanError::RetryBelowOne)
        } else if self.headroom.0 >= 100 * ONE {
            Err(PlanError::NothingLeft)
        } else if !(Duration::from_millis(100)..=EVERY_MAX).contains(&self.every) {
            Err(PlanError::EveryOutOfRange)
        } else {
            Ok(())
        }
    }

    /// What the service may be asked per millisecond, in the unit of [`Self::requests_per_visitor`].
    fn requests_per_ms(&self) -> u128 {
        u128::from(self.tps.0) * u128::from(100 * ONE - self.headroom.0)
    }

    /// Calls and retry are in millionths each, tps in millionths per second, and headroom in millionths of
    /// a per cent: 10^5 is what is left of these units.
    fn requests_per_visitor(&self) -> u128 {
        u128::from(self.calls.0) * u128::from(self.retry.0) * 100_000
    }

    fn shortest_tick(&self) -> Option<Duration> {
        let millis = self.requests_per_visitor().div_ceil(self.requests_per_ms());
        let seconds = u64::try_from(millis.div_ceil(1_000)).ok()?;
        let tick = Duration::from_secs(seconds);
        (tick <= EVERY_MAX).then_some(tick)
    }
}

/// How many are inside on average (Little's law): the rate of entering times the mean stay, rounded up.
pub fn inside(batch: u64, every: Duration, stay: Duration) -> u64 {
    let product = u128::from(batch) * u128::from(millis(stay));
    let inside = product.div_ceil(u128::from(millis(every).max(1)));
    u64::try_from(inside).unwrap_or(u64::MAX).max(1)
}

/// How long the last of a crowd waits if all come at once: `⌈(crowd − 1) ÷ batch⌉` ticks.
pub fn last_wait(crowd: u64, batch: u64, every: Duration) -> Duration {
    let ticks = crowd.saturating_sub(1).div_ceil(batch.max(1));
    Duration::from_millis(millis(every).saturating_mul(ticks))
}

impl Decimal {
    /// The number one.
    pub const ONE: Self = Self(ONE);
    /// The number zero.
    pub const ZERO: Self = Self(0);

    /// A span in seconds, to the millisecond.
    pub fn seconds(span: Duration) -> Self {
        Self(millis(span).saturating_mul(ONE / 1_000))
    }

    /// The product, cut to six digits; for showing.
    #[must_use]
    pub fn times(self, other: Self) -> Self {
        let product = u128::from(self.0) * u128::from(other.0) / u128::from(ONE);
        Self(u64::try_from(product).unwrap_or(u64::MAX))
    }

    /// What is left of this number when so many per cent of it are taken away; for showing.
    #[must_use]
    pub fn less_percent(self, percent: Self) -> Self {
        self.times(Self((100 * ONE).saturating_sub(percent.0) / 100))
    }
}

impl FromStr for Decimal {
    type Err = DecimalError;

    fn from_str(text: &str) -> Result<Self, DecimalError> {
        let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        if !digits(whole) || !digits(part) || part.len() > DIGITS {
            return Err(DecimalError);
        }
        let whole: u64 = whole.parse().map_err(|_| DecimalError)?;
        let part: u64 = format!("{part:0<DIGITS$}")
            .parse()
            .map_err(|_| DecimalError)?;
        if whole > DECIMAL_MAX {
            return Err(DecimalError);
        }
        Ok(Self(whole * ONE + part))
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, part) = (self.0 / ONE, self.0 % ONE);
        if part == 0 {
            return write!(f, "{whole}");
        }
        let part = format!("{part:0DIGITS$}");
        write!(f, "{whole}.{}", part.trim_end_matches('0'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn capacity(tps: &str, calls: &str, retry: &str, every_s: u64) -> Capacity {
        Capacity {
            tps: tps.parse().unwrap(),
            calls: calls.parse().unwrap(),
            retry: retry.parse().unwrap(),
            headroom: Decimal::ZERO,
            every: Duration::from_secs(every_s),
        }
    }

    #[test]
    fn the_figures_of_the_seeds_come_out_exactly() {
        assert_eq!(capacity("1000", "3", "1", 10).batch(), Ok(3333));
        assert_eq!(capacity("660", "2", "1.5", 10).batch(), Ok(2200));
        assert_eq!(capacity("20", "4", "1.5", 5).batch(), Ok(16));
    }

    #[test]
    fn decimals_that_floats_cannot_hold_lose_nobody() {
        // In floating point 3.3 ÷ 1.1 is a little less than 3.
        assert_eq!(capacity("3.3", "1.1", "1", 1).batch(), Ok(3));
        assert_eq!(capacity("0.7", "0.1", "1", 1).batch(), Ok(7));
    }

    #[test]
    fn headroom_is_taken_off_the_rate() {
        let with = |headroom: &str| Capacity {
            headroom: headroom.parse().unwrap(),
            ..capacity("1000", "4", "1", 10)
        };
        assert_eq!(with("20").batch(), Ok(2000));
        assert_eq!(with("99.9").batch(), Ok(2));
        assert_eq!(with("100").batch(), Err(PlanError::NothingLeft));
    }

    #[test]
    fn the_largest_figures_do_not_overflow() {
        let largest = capacity("1000000000", "0.000001", "1", 30 * 24 * 3600);
        assert_eq!(largest.batch(), Ok(u64::MAX));
        let smallest = capacity("0.000001", "1000000000", "1000000000", 1);
        let never = Err(PlanError::LessThanOne { shortest: None });
        assert_eq!(smallest.batch(), never);
    }

    #[test]
    fn less_than_one_per_tick_is_answered_with_the_tick_that_fits() {
        let slow = capacity("0.5", "4", "1.5", 5);
        let shortest = Some(Duration::from_secs(12));
        assert_eq!(slow.batch(), Err(PlanError::LessThanOne { shortest }));
        assert_eq!(capacity("0.5", "4", "1.5", 12).batch(), Ok(1));
        assert!(capacity("0.5", "4", "1.5", 11).batch().is_err());
    }

    #[test]
    fn figures_without_sense_are_refused() {
        for (figures, error) in [
            (capacity("0", "1", "1", 1), PlanError::NoCapacity),
            (capacity("1", "0", "1", 1), PlanError::NoCalls),
            (capacity("1", "1", "0.5", 1), PlanError::RetryBelowOne),
            (capacity("1", "1", "1", 0), PlanError::EveryOutOfRange),
            (
                capacity("1", "1", "1", 31 * 24 * 3600),
                PlanError::EveryOutOfRange,
            ),
        ] {
            assert_eq!(figures.batch(), Err(error));
        }
    }

    #[test]
    fn as_many_are_inside_as_come_during_one_stay() {
        let seconds = Duration::from_secs;
        assert_eq!(inside(50, seconds(5), seconds(120)), 1200);
        assert_eq!(inside(1, seconds(3), seconds(10)), 4);
        assert_eq!(inside(1, seconds(60), seconds(1)), 1);
    }

    #[test]
    fn the_last_waits_for_those_before_in_whole_ticks() {
        let ten = Duration::from_secs(10);
        let seconds = |crowd, batch| last_wait(crowd, batch, ten).as_secs();
        assert_eq!(seconds(1, 50), 0);
        assert_eq!(seconds(51, 50), 10);
        assert_eq!(seconds(52, 50), 20);
        assert_eq!(seconds(50_000, 3333), 160);
    }

    #[test]
    fn a_decimal_is_written_as_it_was_read() {
        for text in ["0", "1", "1.5", "0.000001", "1000000000", "12.34"] {
            assert_eq!(text.parse::<Decimal>().unwrap().to_string(), text);
        }
        for text in [
            "",
            ".5",
            "5.",
            "-1",
            "1e3",
            "1,5",
            "1.0000001",
            "٣",
            "1000000001",
            "1.5.1",
        ] {
            assert_eq!(text.parse::<Decimal>(), Err(DecimalError), "{text}");
        }
    }
}
