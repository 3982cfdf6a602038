//! Figures for Prometheus.

mod answers;
mod family;
mod gate;
mod process;
mod rooms;
mod threads;

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use http::StatusCode;
use prometheus::{TextEncoder, proto::MetricFamily};
use ropeline_core::RoomId;
use ropeline_store::{Health, Store};
use ropeline_web::{Observe, OpenConnections};

pub(crate) use self::gate::GateOutcome;
use self::{answers::Answers, family::Family, gate::GateAnswers, rooms::RoomFigures};
use crate::admin::Histories;

/// What is counted while requests are answered, and what is read off the rooms when somebody asks.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    answers: Answers,
    gate: GateAnswers,
    unchecked: AtomicU64,
    open: Mutex<OpenConnections>,
}

impl Metrics {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Says where the number of open connections can be read.
    pub(crate) fn watch(&self, open: OpenConnections) {
        *self.open.lock().unwrap_or_else(PoisonError::into_inner) = open;
    }

    /// Counts one whom the gate let through without asking the store.
    pub(crate) fn count_unchecked(&self) {
        self.unchecked.fetch_add(1, Relaxed);
    }

    /// Counts an answer of the gate.
    pub(crate) fn count_gate(&self, room: &RoomId, outcome: GateOutcome, store: &dyn Store) {
        self.gate.note(room, outcome, store);
    }

    /// The figures as text.
    pub(crate) fn render(&self, store: &dyn Store, histories: &Histories) -> String {
        let mut families = vec![build_info()];
        families.extend(self.answers.families());
        families.extend(self.connections());
        families.extend(of_store(store));
        families.push(self.unchecked_total());
        families.push(self.gate.family(&store.rooms()));
        let mut rooms = RoomFigures::new();
        for room in store.rooms() {
            if let Some(seen) = store.view(&room) {
                rooms.take(&room, &seen.view, &histories.of(&room));
            }
        }
        let known = families.into_iter().flatten();
        let all: Vec<_> = known
            .chain(rooms.families())
            .chain(process::families())
            .collect();
        TextEncoder::new()
            .encode_to_string(&all)
            .unwrap_or_default()
    }

    fn connections(&self) -> [Option<MetricFamily>; 2] {
        let connections = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let mut open = Family::gauge("ropeline_http_connections", "Open connections");
        open.set(&[], connections.get() as u64);
        let mut closed = Family::counter(
            "ropeline_http_connections_closed_early_total",
            "Idle connections closed early to make room for others",
        );
        closed.set(&[], connections.closed_to_make_room());
        [open.known(), closed.known()]
    }

    fn unchecked_total(&self) -> Option<MetricFamily> {
        let mut family = Family::counter(
            "ropeline_gate_unchecked_total",
            "Requests that the gate let through while the store was unavailable",
        );
        family.set(&[], self.unchecked.load(Relaxed));
        family.known()
    }
}

fn build_info() -> Option<MetricFamily> {
    let mut family = Family::gauge("ropeline_build_info", "1, with the version of the server");
    family.set(&[("version", env!("CARGO_PKG_VERSION"))], 1);
    family.known()
}

fn of_store(store: &dyn Store) -> [Option<MetricFamily>; 2] {
    let mut up = Family::gauge("ropeline_store_up", "1 while the store takes joins");
    up.set(&[], u64::from(store.health() == Health::Up));
    let mut unreplicated = Family::counter(
        "ropeline_store_unreplicated_total",
        "Requests answered although no replica of Redis has what they wrote",
    );
    unreplicated.set(&[], store.unreplicated());
    [up.known(), unreplicated.known()]
}

/// Lets the HTTP server report to shared metrics.
#[derive(Debug)]
pub(crate) struct Observer(pub(crate) Arc<Metrics>);

impl Observe for Observer {
    fn answered(&self, status: StatusCode, took: Duration) {
        self.0.answers.note(status, took);
    }
}
