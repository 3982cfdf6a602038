//! Amounts of points.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::Refusal;

/// Whole points, never negative and never a fraction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Points(i64);

impl Points {
    /// The most that a user can have. The same limit is a constraint of the database.
    pub const BALANCE_MAX: Self = Self(1_000_000_000_000);
    /// The most that is charged or asked for a seat at once.
    pub const AMOUNT_MAX: Self = Self(100_000_000);

    /// An amount that can be charged or asked for: from 1 to [`Points::AMOUNT_MAX`].
    pub fn amount(points: i64) -> Result<Self, Refusal> {
        if (1..=Self::AMOUNT_MAX.0).contains(&points) {
            Ok(Self(points))
        } else {
            Err(Refusal::InvalidAmount)
        }
    }

    /// As a number.
    pub fn get(self) -> i64 {
        self.0
    }

    /// What the database holds, whose constraints keep it in range.
    pub(crate) fn stored(points: i64) -> Self {
        Self(points)
    }
}

impl fmt::Display for Points {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amount_is_at_least_one_and_at_most_the_maximum() {
        for bad in [i64::MIN, -1, 0, 100_000_001, i64::MAX] {
            assert_eq!(Points::amount(bad), Err(Refusal::InvalidAmount), "{bad}");
        }
        for good in [1, 50_000, 100_000_000] {
            assert_eq!(Points::amount(good).map(Points::get), Ok(good));
        }
    }
}
