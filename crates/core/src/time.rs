//! Room time.

use std::{
    ops::{Add, Sub},
    time::Duration,
};

use serde::{Deserialize, Serialize};

/// A moment, in milliseconds since the Unix epoch of the room's own clock.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Timestamp(pub u64);

impl Timestamp {
    /// How long ago `earlier` was; zero if it is yet to come.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0))
    }

    /// How long it is until `later`; zero if that has passed.
    pub fn until(self, later: Self) -> Duration {
        later.since(self)
    }
}

impl Add<Duration> for Timestamp {
    type Output = Self;

    fn add(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(millis(duration)))
    }
}

impl Sub<Duration> for Timestamp {
    type Output = Self;

    fn sub(self, duration: Duration) -> Self {
        Self(self.0.saturating_sub(millis(duration)))
    }
}

/// A duration in whole milliseconds, the resolution of room time.
pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// Room time: the clock of whoever runs the room, plus an offset that keeps it from running back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RoomClock {
    /// Added to the outside clock.
    offset_ms: i64,
    /// The latest room time that a transition has seen.
    last: Timestamp,
}

impl RoomClock {
    /// The clock of a node that has just heard what room time is: `room` at its own `clock`.
    pub fn heard(room: Timestamp, clock: Timestamp) -> Self {
        let mut heard = Self::starting_at(room);
        heard.rebase(clock);
        heard
    }

    /// Room time starts equal to the outside clock.
    pub(crate) fn starting_at(clock: Timestamp) -> Self {
        Self {
            offset_ms: 0,
            last: clock,
        }
    }

    /// Room time at `clock`; if that lies before the last, the offset grows and time stands still.
    pub(crate) fn advance(&mut self, clock: Timestamp) -> Timestamp {
        let now = self.read(clock);
        if now == self.last {
            self.rebase(clock);
        }
        self.last = now;
        now
    }

    /// Room time at `clock`, never before the last transition.
    pub(crate) fn read(&self, clock: Timestamp) -> Timestamp {
        Timestamp(clock.0.saturating_add_signed(self.offset_ms)).max(self.last)
    }

    /// The latest room time that a transition has seen.
    pub fn last(&self) -> Timestamp {
        self.last
    }

    /// Takes over a room time that somebody has seen, if it is later.
    pub(crate) fn catch_up(&mut self, clock: Timestamp, seen: Timestamp) {
        if seen > self.read(clock) {
            self.last = seen;
            self.rebase(clock);
        }
    }

    /// Goes on from the last room time that anybody has seen.
    pub(crate) fn go_on_from(&mut self, seen: Timestamp, clock: Timestamp) {
        self.last = self.last.max(seen);
        self.rebase(clock);
    }

    /// Goes on from the last room time, however long nobody ran the room.
    pub(crate) fn rebase(&mut self, clock: Timestamp) {
        self.offset_ms = self.last.0.wrapping_sub(clock.0).cast_signed();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_time_never_runs_back_and_goes_on_at_once() {
        let mut clock = RoomClock::starting_at(Timestamp(1_000));
        assert_eq!(clock.advance(Timestamp(1_500)), Timestamp(1_500));
        assert_eq!(clock.advance(Timestamp(900)), Timestamp(1_500));
        assert_eq!(clock.advance(Timestamp(910)), Timestamp(1_510));
    }

    #[test]
    fn room_time_stands_still_while_nobody_runs_the_room() {
        let mut clock = RoomClock::starting_at(Timestamp(1_000));
        clock.rebase(Timestamp(9_000));
        assert_eq!(clock.advance(Timestamp(9_005)), Timestamp(1_005));
    }
}
