//! How the rooms are.

use prometheus::proto::MetricFamily;
use ropeline_core::{History, RoomId, View, WAIT_BOUNDS};

use super::family::{Family, float};
use crate::admin::WINDOW;

const STATES: [&str; 4] = ["OPEN", "PAUSED", "CLOSED", "DRAINING"];

/// The figures of all rooms, each under its name.
pub(super) struct RoomFigures {
    visitors: Family,
    events: Family,
    states: Family,
    active_max: Family,
    waiting_max: Family,
    batch: Family,
    seats_left: Family,
    waits: Family,
    mean_error: Family,
    mean_abs_error: Family,
    within_band: Family,
}

impl RoomFigures {
    pub(super) fn new() -> Self {
        let gauge = Family::gauge;
        Self {
            visitors: gauge(
                "ropeline_room_visitors",
                "Visitors of a room by where they are",
            ),
            events: Family::counter(
                "ropeline_room_events_total",
                "What happened in a room since it began",
            ),
            states: gauge(
                "ropeline_room_state",
                "1 for the state that a room is in, 0 for the others",
            ),
            active_max: gauge(
                "ropeline_room_active_max",
                "How many may be inside; absent without a limit",
            ),
            waiting_max: gauge(
                "ropeline_room_waiting_max",
                "How many may be in line before joins are refused",
            ),
            batch: gauge(
                "ropeline_room_batch",
                "How many are admitted in a tick at most; absent without a limit",
            ),
            seats_left: gauge(
                "ropeline_room_seats_left",
                "What the service behind the room has left to sell; absent if it does not say",
            ),
            waits: Family::histogram(
                "ropeline_room_wait_seconds",
                "How long those waited whose turn came since this node started",
            ),
            mean_error: gauge(
                "ropeline_room_estimate_mean_error_seconds",
                "Estimate less wait, of estimates that came due in the last quarter of an hour: \
                 below zero people waited longer than they were told",
            ),
            mean_abs_error: gauge(
                "ropeline_room_estimate_mean_abs_error_seconds",
                "The same without its sign",
            ),
            within_band: gauge(
                "ropeline_room_estimate_within_band_ratio",
                "Share of waits within the range that was told, in the last quarter of an hour",
            ),
        }
    }

    /// One room. What cannot be told yet is left out, so that nobody takes it for zero.
    pub(super) fn take(&mut self, room: &RoomId, view: &View, history: &History) {
        let room = [("room", room.as_str())];
        self.take_visitors(room[0], view);
        let policy = &view.header.policy;
        self.waiting_max.set(&room, policy.waiting_max);
        let limits = [
            (&mut self.active_max, policy.active_max),
            (&mut self.batch, policy.batch),
            (&mut self.seats_left, view.header.stock),
        ];
        for (family, limit) in limits {
            if let Some(limit) = limit {
                family.set(&room, limit);
            }
        }
        let turns = history.turns();
        self.waits
            .distribution(&room, &WAIT_BOUNDS, &turns.buckets, turns.sum_s);
        let grade = history.grade(WINDOW);
        if grade.count > 0 {
            self.mean_error.put(&room, grade.mean_error_s);
            self.mean_abs_error.put(&room, grade.mean_abs_error_s);
            self.within_band.put(&room, grade.within_band);
        }
    }

    fn take_visitors(&mut self, room: (&str, &str), view: &View) {
        let places = [
            ("waiting", view.waiting()),
            ("active", view.inside),
            ("aside", view.aside),
            ("door", view.door),
        ];
        for (place, count) in places {
            self.visitors.set(&[room, ("where", place)], count);
        }
        let counters = &view.header.counters;
        let events = [
            ("joined", view.header.issued.0),
            ("admitted", counters.admitted),
            ("expired", counters.expired),
            ("finished", counters.finished),
            ("left", counters.left),
            ("revoked", counters.revoked),
            ("stepped_over", counters.stepped_over),
            ("missed", counters.missed),
            ("restored", counters.restored),
        ];
        for (event, count) in events {
            self.events.set(&[("event", event), room], count);
        }
        let state_now = view.state_word();
        for state in STATES {
            let is_now = float(u64::from(state == state_now));
            let name = state.to_ascii_lowercase();
            self.states.put(&[room, ("state", &name)], is_now);
        }
    }

    pub(super) fn families(self) -> impl Iterator<Item = MetricFamily> {
        let Self {
            visitors,
            events,
            states,
            active_max,
            waiting_max,
            batch,
            seats_left,
            waits,
            mean_error,
            mean_abs_error,
            within_band,
        } = self;
        [
            visitors,
            events,
            states,
            active_max,
            waiting_max,
            batch,
            seats_left,
            waits,
            mean_error,
            mean_abs_error,
            within_band,
        ]
        .into_iter()
        .filter_map(Family::known)
    }
}
