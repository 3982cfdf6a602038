//! How long somebody still has to wait.

use std::time::Duration;

use crate::{Timestamp, View, pace::count};

/// Nobody is told a longer wait than this; it stands for "very long".
const WAIT_MAX_S: f64 = 30.0 * 24.0 * 3600.0;
/// Half of the width of the band, in standard deviations: four in five waits end inside it.
const BAND: f64 = 1.3;
/// People do not do what those before them did: this share of any wait is open to doubt.
const UNFORESEEN: f64 = 0.05;

/// The expected wait and the band in which it most likely ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Estimate {
    /// The single best figure.
    pub wait: Duration,
    /// It is hardly less than this.
    pub low: Duration,
    /// It is hardly more than this.
    pub high: Duration,
}

/// How long somebody with `ahead` people in front has to wait at room time `now`; `None` while the room is
/// paused, since then nobody can say.
pub fn estimate(view: &View, ahead: u64, now: Timestamp) -> Option<Estimate> {
    (!view.header.paused).then(|| forecast(view, view.turn(ahead), now))
}

/// How long the visitor whose turn is number `turn` from now, counted from 1, has to wait if the room admits from now on,
/// whether or not it is paused.
pub fn forecast(view: &View, turn: u64, now: Timestamp) -> Estimate {
    let turn = count(turn);
    let by_ticks = theme_park(view, turn, now);
    let by_departures = bank_counter(view, turn, now);
    let larger = |a: f64, b: f64| Duration::from_secs_f64(a.max(b).min(WAIT_MAX_S));
    Estimate {
        wait: larger(by_ticks.wait, by_departures.wait),
        low: larger(by_ticks.low, by_departures.low),
        high: larger(by_ticks.high, by_departures.high),
    }
}

/// Seconds of wait under one of the two methods.
#[derive(Default)]
struct Seconds {
    wait: f64,
    low: f64,
    high: f64,
}

/// The ticks still needed and the time to the next one.
fn theme_park(view: &View, turn: f64, now: Timestamp) -> Seconds {
    let Some(batch) = view.header.policy.batch else {
        return Seconds::default();
    };
    let tick = &view.header.tick;
    let every = view.header.policy.every.as_secs_f64();
    let left = now
        .until(tick.start + view.header.policy.every)
        .as_secs_f64();
    let this_tick = count((batch + tick.extra).saturating_sub(tick.admitted));
    let wait = |turn: f64| {
        let ticks = ((turn - this_tick).max(0.0) / count(batch)).ceil();
        if ticks == 0.0 {
            0.0
        } else {
            left + (ticks - 1.0) * every
        }
    };
    let (pace, absent) = (&view.pace, view.pace.absent_share());
    // Who gives up before their turn takes none; how many do depends on how long they wait.
    let full = wait(turn);
    let likely = turn * (1.0 - absent) * pace.patient_share(full, 1.0);
    let few = turn * (1.0 - 1.5 * absent) * pace.patient_share(full, 2.0) * (1.0 - UNFORESEEN);
    Seconds {
        wait: wait(likely.max(1.0)),
        low: wait(few.max(1.0)),
        high: wait(turn + count(view.aside)),
    }
}

/// The departures still needed at the pace of late.
fn bank_counter(view: &View, turn: f64, now: Timestamp) -> Seconds {
    let Some(cap) = view.header.policy.active_max else {
        return Seconds::default();
    };
    let inside = count(view.inside);
    let rate = count(cap.max(1)) / view.pace.mean_stay_s(view);
    let patient = view.pace.patient_share(turn / rate, 1.0);
    let present = turn * (1.0 - view.pace.absent_share()) * patient;
    let needed = present.max(1.0) - (count(cap) - inside).max(0.0);
    if needed <= 0.0 {
        return Seconds::default();
    }
    let elapsed = now.since(view.as_of).as_secs_f64();
    let spread = BAND * (needed.sqrt() + needed * view.pace.doubt()) + UNFORESEEN * needed;
    let seconds = |departures: f64| (departures / rate - elapsed).max(0.0);
    Seconds {
        wait: seconds(needed),
        low: seconds((needed - spread).max(0.0)),
        high: seconds(needed + spread),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{Bounds, Pace, Policy, Room, ServerId, policy::tests::policy};

    fn view(change: impl FnOnce(&mut Policy)) -> View {
        let mut policy = policy();
        change(&mut policy);
        Room::new(
            policy,
            ServerId("test".into()),
            Timestamp(0),
            Bounds::default(),
        )
        .view(Timestamp(0))
    }

    fn seconds(estimate: Estimate) -> (u64, u64, u64) {
        (
            estimate.low.as_secs(),
            estimate.wait.as_secs(),
            estimate.high.as_secs(),
        )
    }

    #[test]
    fn a_theme_park_counts_ticks_from_the_next_one() {
        let mut view = view(|policy| (policy.batch, policy.active_max) = (Some(50), None));
        view.header.tick.admitted = 50;
        let at = |ahead, now| seconds(estimate(&view, ahead, Timestamp(now)).unwrap()).1;
        assert_eq!(at(0, 4_000), 6);
        assert_eq!(at(49, 4_000), 6);
        assert_eq!(at(50, 4_000), 16);
        assert_eq!(at(999, 0), 200);
    }

    #[test]
    fn a_bank_counter_uses_the_pace_it_has_seen_and_never_waits_longer_than_the_policy_allows() {
        let mut view = view(|policy| (policy.batch, policy.active_max) = (None, Some(10)));
        view.inside = 10;
        // Nothing seen: everybody is assumed to stay for pass_ttl, 30 s, so one leaves every 3 s.
        assert_eq!(seconds(estimate(&view, 9, Timestamp(0)).unwrap()).1, 30);
        let mut pace = Pace::default();
        pace.observe(&view);
        for second in 1..=600 {
            view.as_of = Timestamp(second * 1_000);
            view.header.counters.departed += 2;
            view.header.counters.stayed_ms += 10_000;
            pace.observe(&view);
        }
        view.pace = pace;
        let (low, wait, high) = seconds(estimate(&view, 99, view.as_of).unwrap());
        assert!((48..=56).contains(&wait), "two a second: {wait}");
        assert!(low < wait && wait < high, "{low} {wait} {high}");
        // Nobody leaves for an hour: each still has to within pass_max, 120 s.
        for second in 601..=4_200 {
            view.as_of = Timestamp(second * 1_000);
            pace.observe(&view);
        }
        view.pace = pace;
        assert_eq!(seconds(estimate(&view, 9, view.as_of).unwrap()).1, 120);
    }

    #[test]
    fn both_limits_together_take_the_larger_wait() {
        let mut both = view(|policy| (policy.batch, policy.active_max) = (Some(1), Some(1_000)));
        both.header.tick.admitted = 1;
        assert_eq!(seconds(estimate(&both, 9, Timestamp(0)).unwrap()).1, 100);
        both.inside = 1_000;
        let policy = Policy {
            batch: Some(1_000),
            ..(*both.header.policy).clone()
        };
        both.header.policy = Arc::new(policy);
        both.header.tick.admitted = 1_000;
        // Nothing seen: 1,000 per tick and 1,000 inside are made for stays of a tick.
        assert_eq!(seconds(estimate(&both, 999, Timestamp(0)).unwrap()).1, 10);
        let patient = Policy {
            batch: None,
            ..(*both.header.policy).clone()
        };
        both.header.policy = Arc::new(patient);
        assert_eq!(seconds(estimate(&both, 999, Timestamp(0)).unwrap()).1, 30);
    }

    #[test]
    fn nobody_can_say_how_long_a_pause_lasts() {
        let mut view = view(|_| ());
        view.header.paused = true;
        assert_eq!(estimate(&view, 3, Timestamp(0)), None);
    }
}
