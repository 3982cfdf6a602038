//! Figures for Prometheus.

mod answers;

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use http::StatusCode;
use prometheus::{
    GaugeVec, IntCounter, IntCounterVec, IntGauge, IntGaugeVec, Opts, Registry, TextEncoder,
};
use ropeline_core::{History, View};
use ropeline_store::{Health, Store};
use ropeline_web::{Observe, OpenConnections};

use self::answers::{Answers, Told};
use crate::admin::{Histories, WINDOW};

/// What is counted while requests are answered, and what is read off the rooms when somebody asks.
#[derive(Debug)]
pub(crate) struct Metrics {
    registry: Registry,
    answers: Arc<Answers>,
    connections: IntGauge,
    made_room: IntCounter,
    store_up: IntGauge,
    unreplicated: IntCounter,
    /// Whom the gate let through without asking the store.
    pub(crate) unchecked: IntCounter,
    gauges: IntGaugeVec,
    totals: IntCounterVec,
    waits: GaugeVec,
    estimates: GaugeVec,
    open: Mutex<OpenConnections>,
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let registry = Registry::new_custom(Some("ropeline".to_owned()), None)
            .expect("the prefix is a valid name");
        let metrics = Self {
            answers: Arc::default(),
            connections: gauge("http_connections", "Open connections"),
            made_room: IntCounter::new(
                "http_connections_closed_early_total",
                "Idle connections closed early to make room for others",
            )
            .expect("valid name"),
            store_up: gauge("store_up", "Whether the store takes joins"),
            unreplicated: IntCounter::new(
                "store_unreplicated_total",
                "Requests answered although no replica of Redis has what they wrote",
            )
            .expect("valid name"),
            unchecked: IntCounter::new(
                "gate_unchecked_total",
                "Requests that the gate let through while the store was away",
            )
            .expect("valid name"),
            gauges: IntGaugeVec::new(
                Opts::new("room_visitors", "Visitors of a room by where they are"),
                &["room", "where"],
            )
            .expect("valid names"),
            totals: IntCounterVec::new(
                Opts::new(
                    "room_events_total",
                    "What happened in a room since it began",
                ),
                &["room", "event"],
            )
            .expect("valid names"),
            waits: GaugeVec::new(
                Opts::new(
                    "room_wait_seconds",
                    "Waits of those whose turn came in the last quarter of an hour",
                ),
                &["room", "quantile"],
            )
            .expect("valid names"),
            estimates: GaugeVec::new(
                Opts::new(
                    "room_estimate",
                    "Estimates that came due in the last quarter of an hour: errors in seconds, and the \
                     share of waits within the band",
                ),
                &["room", "figure"],
            )
            .expect("valid names"),
            open: Mutex::default(),
            registry,
        };
        metrics.register();
        metrics
    }

    fn register(&self) {
        let all: [Box<dyn prometheus::core::Collector>; 10] = [
            Box::new(Told::of(&self.answers)),
            Box::new(self.connections.clone()),
            Box::new(self.made_room.clone()),
            Box::new(self.store_up.clone()),
            Box::new(self.unreplicated.clone()),
            Box::new(self.unchecked.clone()),
            Box::new(self.gauges.clone()),
            Box::new(self.totals.clone()),
            Box::new(self.waits.clone()),
            Box::new(self.estimates.clone()),
        ];
        for collector in all {
            self.registry
                .register(collector)
                .expect("each name is used once");
        }
    }

    /// Says where the number of open connections can be read.
    pub(crate) fn watch(&self, open: OpenConnections) {
        *self.open.lock().unwrap_or_else(PoisonError::into_inner) = open;
    }

    /// The figures as text. One caller at a time, since totals are set anew.
    pub(crate) fn render(&self, store: &dyn Store, histories: &Histories) -> String {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        self.connections.set(signed(open.get() as u64));
        self.made_room.reset();
        self.made_room.inc_by(open.closed_to_make_room());
        self.store_up.set(i64::from(store.health() == Health::Up));
        self.unreplicated.reset();
        self.unreplicated.inc_by(store.unreplicated());
        self.gauges.reset();
        self.totals.reset();
        self.waits.reset();
        self.estimates.reset();
        for room in store.rooms() {
            if let Some(seen) = store.view(&room) {
                self.take_room(room.as_str(), &seen.view);
                self.take_history(room.as_str(), &histories.of(&room));
            }
        }
        TextEncoder::new()
            .encode_to_string(&self.registry.gather())
            .unwrap_or_default()
    }

    fn take_room(&self, room: &str, view: &View) {
        let places = [
            ("waiting", view.waiting()),
            ("active", view.inside),
            ("aside", view.aside),
            ("door", view.door),
        ];
        for (place, count) in places {
            self.gauges
                .with_label_values(&[room, place])
                .set(signed(count));
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
            self.totals.with_label_values(&[room, event]).inc_by(count);
        }
    }
}

impl Metrics {
    /// What cannot be told yet is left out, so that nobody takes it for zero.
    fn take_history(&self, room: &str, history: &History) {
        let waits = history.waits(WINDOW);
        if waits.count > 0 {
            let quantiles = [("0.5", waits.p50), ("0.9", waits.p90), ("0.99", waits.p99)];
            for (quantile, wait) in quantiles {
                let gauge = self.waits.with_label_values(&[room, quantile]);
                gauge.set(wait.as_secs_f64());
            }
        }
        let grade = history.grade(WINDOW);
        if grade.count > 0 {
            let figures = [
                ("mean_error_seconds", grade.mean_error_s),
                ("mean_abs_error_seconds", grade.mean_abs_error_s),
                ("within_band_ratio", grade.within_band),
            ];
            for (figure, value) in figures {
                let gauge = self.estimates.with_label_values(&[room, figure]);
                gauge.set(value);
            }
        }
    }
}

/// Lets the HTTP server report to shared metrics.
#[derive(Debug)]
pub(crate) struct Observer(pub(crate) Arc<Metrics>);

impl Observe for Observer {
    fn answered(&self, status: StatusCode, took: Duration) {
        self.0.answers.note(status, took);
    }
}

fn gauge(name: &str, help: &str) -> IntGauge {
    IntGauge::new(name, help).expect("valid name")
}

fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
