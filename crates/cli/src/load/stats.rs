//! Sums over what was measured.

/// The value below which this part of the sorted values lies; `None` of nothing.
pub(crate) fn quantile<T: Copy>(sorted: &[T], part: f64) -> Option<T> {
    let last = sorted.len().checked_sub(1)?;
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "an index of a list that fits in memory, and a part of it"
    )]
    let at = (last as f64 * part).round() as usize;
    sorted.get(at.min(last)).copied()
}

/// The mean; 0 of nothing.
pub(crate) fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len();
    if count == 0 {
        return 0.0;
    }
    values.sum::<f64>() / float(count)
}

/// The part of a whole that fits; 0 of nothing.
pub(crate) fn share(fitting: usize, whole: usize) -> f64 {
    if whole == 0 {
        return 0.0;
    }
    float(fitting) / float(whole)
}

#[expect(clippy::cast_precision_loss, reason = "counts far below 2^53")]
pub(crate) fn float(count: usize) -> f64 {
    count as f64
}

pub(crate) fn sorted(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_by(f64::total_cmp);
    values
}

/// To a tenth, as reports show it.
pub(crate) fn tenth(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_values_that_were_measured() {
        let values = [1, 2, 3, 4, 5];
        assert_eq!(quantile(&values, 0.0), Some(1));
        assert_eq!(quantile(&values, 0.5), Some(3));
        assert_eq!(quantile(&values, 1.0), Some(5));
        assert_eq!(quantile::<u8>(&[], 0.5), None);
    }

    #[test]
    fn nothing_has_a_mean_and_a_share_of_zero() {
        assert!(mean([].into_iter()).abs() < f64::EPSILON);
        assert!(share(0, 0).abs() < f64::EPSILON);
        assert!((mean([1.0, 2.0].into_iter()) - 1.5).abs() < f64::EPSILON);
    }
}
