//! When visitors should ask again.

use std::time::Duration;

use crate::{Estimate, Timestamp, View, time::millis};

/// Nobody is told to ask more often than this…
const POLL_MIN: Duration = Duration::from_secs(1);
/// …or less often than this.
const POLL_MAX: Duration = Duration::from_secs(30);
/// Visitors are told to ask this many times before their turn.
const POLLS_PER_WAIT: u32 = 10;
/// Visitors whose turn may come within two ticks ask at least this often.
const POLL_NEAR: Duration = Duration::from_millis(1_500);
/// At best, everybody inside leaves and the next visitors take their slots in this time.
const TURNOVER: Duration = Duration::from_secs(5);
/// The front of a line that does not move asks this many times a second at most; the whole line, about 4.4 times as
/// often, besides those who ask every [`POLL_MAX`].
const FRONT_POLLS_PER_S: u64 = 5_000;

/// When a visitor should ask again.
///
/// `turn` counts from 1 (next), and `forecast` is the wait if the room admitted from now on. Pass
/// [`forecast`](crate::forecast) also while the room is paused: when it is resumed, the visitors at the front must
/// hear of it before those behind them. `salt` spreads the answers over a tenth of the interval.
pub fn poll_after(
    view: &View,
    turn: u64,
    forecast: Estimate,
    now: Timestamp,
    salt: u64,
) -> Duration {
    // Those who ask often while the room is paused may be doing so for an hour.
    let affordable = Duration::from_millis(turn.saturating_mul(1_000) / FRONT_POLLS_PER_S);
    let by_wait = forecast.wait / POLLS_PER_WAIT;
    let by_wait = if view.header.paused {
        by_wait.max(affordable)
    } else {
        by_wait
    };
    // The wait is a guess, and turns may come sooner.
    let at_best = at_best(view, turn, forecast, now).max(affordable);
    spread(by_wait.min(at_best), view, salt)
}

/// When a visitor who is inside should ask again.
pub fn poll_after_inside(view: &View, salt: u64) -> Duration {
    spread(POLL_MAX, view, salt)
}

/// An interval at which visitors ask often enough even if their turn comes as soon as it can.
fn at_best(view: &View, turn: u64, forecast: Estimate, now: Timestamp) -> Duration {
    let policy = &view.header.policy;
    let ticks = policy.batch.map_or(0, |batch| {
        let tick = &view.header.tick;
        let this_tick = (batch + tick.extra).saturating_sub(tick.admitted);
        turn.saturating_sub(this_tick).div_ceil(batch)
    });
    let turnovers = policy.active_max.map_or(0, |cap| {
        let free = cap.saturating_sub(view.inside);
        turn.saturating_sub(free).div_ceil(cap)
    });
    if ticks.max(turnovers) <= 2 {
        return POLL_NEAR;
    }
    let to_next_tick = now.until(view.header.tick.start + policy.every);
    let by_ticks = match ticks {
        0 => Duration::ZERO,
        more => to_next_tick.saturating_add(times(policy.every, more - 1)),
    };
    let by_turnovers = times(TURNOVER, turnovers.saturating_sub(1));
    let soonest = by_ticks.max(by_turnovers).max(forecast.low);
    (soonest / 2).max(POLL_NEAR)
}

fn times(span: Duration, count: u64) -> Duration {
    span.saturating_mul(u32::try_from(count).unwrap_or(u32::MAX))
}

/// The interval within what is allowed, which makes everybody count as present, and a little different for each.
fn spread(wish: Duration, view: &View, salt: u64) -> Duration {
    let presence_ttl = view.header.policy.presence_ttl;
    let bound = if presence_ttl.is_zero() {
        POLL_MAX
    } else {
        presence_ttl / 3
    };
    let longest = wish.clamp(POLL_MIN, POLL_MAX).min(bound);
    // Fibonacci hashing: neighbours in line get far-apart shares.
    let share = salt.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
    let jitter = (millis(longest) / 10 * share) >> 32;
    longest.saturating_sub(Duration::from_millis(jitter))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::{Bounds, Policy, Room, ServerId, forecast, policy::tests::policy};

    const START: Timestamp = Timestamp(0);

    fn view(change: impl FnOnce(&mut Policy)) -> View {
        let mut policy = policy();
        change(&mut policy);
        let server = ServerId("test".into());
        Room::new(policy, server, START, Bounds::default()).view(START)
    }

    /// A room that admits 50 every 5 seconds and has admitted all of this tick.
    fn ticking() -> View {
        let mut view = view(|policy| {
            policy.every = Duration::from_secs(5);
            (policy.batch, policy.active_max) = (Some(50), None);
            policy.presence_ttl = Duration::ZERO;
        });
        view.header.tick.admitted = 50;
        view
    }

    fn poll_ms(view: &View, turn: u64, salt: u64) -> u64 {
        millis(poll_after(
            view,
            turn,
            forecast(view, turn, START),
            START,
            salt,
        ))
    }

    #[test]
    fn visitors_ask_ten_times_until_their_turn_and_always_often_enough_to_seem_present() {
        let mut view = ticking();
        for salt in 0..1_000 {
            assert!((900..=1_000).contains(&poll_ms(&view, 50, salt)));
            assert!((9_000..=10_000).contains(&poll_ms(&view, 1_000, salt)));
            assert!((27_000..=30_000).contains(&poll_ms(&view, 99_999, salt)));
            assert!((27_000..=30_000).contains(&millis(poll_after_inside(&view, salt))));
        }
        let spread: BTreeSet<_> = (0..1_000)
            .map(|salt| poll_ms(&view, 99_999, salt))
            .collect();
        assert!(spread.len() > 500, "{}", spread.len());
        let mut watched = (*view.header.policy).clone();
        watched.presence_ttl = Duration::from_secs(30);
        view.header.policy = watched.into();
        assert!(poll_ms(&view, 99_999, 0) <= 10_000);
    }

    #[test]
    fn a_pause_changes_nothing_for_those_at_the_front() {
        let open = ticking();
        let mut paused = ticking();
        paused.header.paused = true;
        for turn in 1..=5_000 {
            assert_eq!(poll_ms(&paused, turn, turn), poll_ms(&open, turn, turn));
        }
    }

    #[test]
    fn whoever_can_be_admitted_within_two_ticks_asks_every_second_or_two() {
        let mut slow = ticking();
        let mut hourly = (*slow.header.policy).clone();
        hourly.every = Duration::from_secs(3_600);
        slow.header.policy = hourly.into();
        // The policy promises nothing about how soon those inside leave.
        let cap = view(|policy| {
            (policy.batch, policy.active_max) = (None, Some(200));
            policy.pass_ttl = Duration::from_secs(3_600);
        });
        for paused in [false, true] {
            for mut view in [slow.clone(), cap.clone()] {
                view.header.paused = paused;
                let near = 2 * view.header.policy.batch.unwrap_or(200);
                let longest = (1..=near).map(|turn| poll_ms(&view, turn, turn)).max();
                assert!(longest <= Some(1_500), "{longest:?}");
            }
        }
    }

    /// A million visitors who wait for a room that is paused, and would all be near the front once it is resumed.
    #[test]
    fn the_front_of_a_paused_room_asks_no_more_often_than_a_server_can_answer() {
        let mut every_tick = ticking();
        let mut batch = (*every_tick.header.policy).clone();
        batch.batch = Some(50_000);
        every_tick.header.policy = batch.into();
        let all_at_once = view(|policy| {
            (policy.batch, policy.active_max) = (None, Some(1_000_000));
            policy.presence_ttl = Duration::ZERO;
        });
        for mut view in [every_tick, all_at_once] {
            view.header.paused = true;
            let waiting = 1_000_000_u32;
            let polls: f64 = (1..=u64::from(waiting))
                .map(|turn| 1_000.0 / crate::pace::count(poll_ms(&view, turn, turn)))
                .sum();
            let at_least = f64::from(waiting) / POLL_MAX.as_secs_f64();
            assert!(polls > at_least && polls < at_least + 27_000.0, "{polls}");
        }
    }
}
