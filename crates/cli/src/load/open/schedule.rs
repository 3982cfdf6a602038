//! When everybody comes, fixed beforehand.

use std::time::Duration;

use crate::load::stats::float;

/// Arrivals at even distances, in steps of one rate each.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Schedule {
    steps: Vec<Step>,
}

/// A while in which arrivals come at one rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Step {
    pub(crate) starts: Duration,
    pub(crate) lasts: Duration,
    pub(crate) arrivals: usize,
}

/// Somebody comes, whatever became of those before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Arrival {
    /// From 0, over the whole schedule.
    pub(crate) number: usize,
    /// After the start of the schedule.
    pub(crate) due: Duration,
    pub(crate) step: usize,
}

impl Schedule {
    /// So many, evenly over a while.
    pub(crate) fn spread(arrivals: usize, lasts: Duration) -> Self {
        let starts = Duration::ZERO;
        Self {
            steps: vec![Step {
                starts,
                lasts,
                arrivals,
            }],
        }
    }

    /// One rate all the time.
    pub(crate) fn steady(per_second: f64, lasts: Duration) -> Self {
        Self::spread(count(per_second, lasts), lasts)
    }

    /// From one rate to another in equal steps; both ends are among them.
    pub(crate) fn ramp(from: f64, to: f64, steps: usize, lasts: Duration) -> Self {
        let each = lasts.div_f64(float(steps));
        let rise = (to - from) / float(steps.saturating_sub(1).max(1));
        let step = |number| Step {
            starts: each.mul_f64(float(number)),
            lasts: each,
            arrivals: count(from + rise * float(number), each),
        };
        Self {
            steps: (0..steps).map(step).collect(),
        }
    }

    pub(crate) fn steps(&self) -> &[Step] {
        &self.steps
    }

    pub(crate) fn len(&self) -> usize {
        self.steps.iter().map(|step| step.arrivals).sum()
    }

    pub(crate) fn lasts(&self) -> Duration {
        self.steps.iter().map(|step| step.lasts).sum()
    }

    pub(crate) fn arrivals(&self) -> impl Iterator<Item = Arrival> {
        let steps = self.steps.iter().enumerate();
        let dues = steps.flat_map(|(number, step)| step.dues().map(move |due| (number, due)));
        dues.enumerate()
            .map(|(number, (step, due))| Arrival { number, due, step })
    }
}

impl Step {
    pub(crate) fn per_second(&self) -> f64 {
        float(self.arrivals) / self.lasts.as_secs_f64().max(f64::EPSILON)
    }

    fn dues(self) -> impl Iterator<Item = Duration> {
        let distance = move |nth| float(nth) / float(self.arrivals);
        (0..self.arrivals).map(move |nth| self.starts + self.lasts.mul_f64(distance(nth)))
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "rates and spans are not negative, and the number is bounded where it is used"
)]
fn count(per_second: f64, lasts: Duration) -> usize {
    (per_second * lasts.as_secs_f64()).round() as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dues_ms(schedule: &Schedule) -> Vec<u128> {
        let arrivals = schedule.arrivals();
        arrivals.map(|arrival| arrival.due.as_millis()).collect()
    }

    #[test]
    fn a_steady_rate_has_even_distances() {
        let schedule = Schedule::steady(4.0, Duration::from_secs(2));
        assert_eq!(
            dues_ms(&schedule),
            [0, 250, 500, 750, 1_000, 1_250, 1_500, 1_750]
        );
        assert_eq!(schedule.len(), 8);
    }

    #[test]
    fn a_herd_comes_within_its_span() {
        let schedule = Schedule::spread(3, Duration::from_millis(300));
        assert_eq!(dues_ms(&schedule), [0, 100, 200]);
        assert_eq!(Schedule::spread(0, Duration::ZERO).arrivals().count(), 0);
    }

    #[test]
    fn a_ramp_goes_from_end_to_end_in_steps_of_the_same_length() {
        let schedule = Schedule::ramp(10.0, 30.0, 3, Duration::from_secs(6));
        let rates: Vec<_> = schedule.steps().iter().map(|step| step.arrivals).collect();
        assert_eq!(rates, [20, 40, 60]);
        assert_eq!(schedule.lasts(), Duration::from_secs(6));
        let last = schedule.arrivals().last().unwrap();
        assert_eq!((last.number, last.step), (119, 2));
        assert!(dues_ms(&schedule).is_sorted());
        let second = schedule.arrivals().find(|arrival| arrival.step == 1);
        assert_eq!(second.unwrap().due, Duration::from_secs(2));
    }

    #[test]
    fn a_ramp_may_fall_and_may_have_one_step() {
        let falls = Schedule::ramp(30.0, 10.0, 2, Duration::from_secs(2));
        let rates: Vec<_> = falls.steps().iter().map(Step::per_second).collect();
        assert_eq!(rates, [30.0, 10.0]);
        assert_eq!(Schedule::ramp(5.0, 9.0, 1, Duration::from_secs(1)).len(), 5);
    }
}
