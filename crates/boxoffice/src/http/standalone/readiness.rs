//! Whether the box office can sell, as last probed.

use std::{error::Error as _, sync::Arc, time::Duration};

use serde::Serialize;
use tokio::{
    sync::watch,
    time::{sleep, timeout},
};

use super::Service;

/// How often the database and the room are probed: an orchestrator asks every few seconds.
const EVERY: Duration = Duration::from_secs(1);
/// What has not answered by then is unavailable.
const PROBE_MAX: Duration = Duration::from_secs(2);

/// What the probes have found, shared by those who look and the one who probes.
#[derive(Debug, Clone)]
pub(super) struct Readiness(Arc<watch::Sender<State>>);

/// Where the service stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// Nothing was probed yet.
    Starting,
    Probed(Outcome),
    /// It has been told to stop.
    Draining,
}

/// What one round of probes has found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Outcome {
    database: Part,
    room: Part,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Up,
    Down,
}

/// A part without which nothing is sold, as `/readyz` names it. Everybody may read that, so the cause is only logged.
#[derive(Debug, Serialize)]
pub(super) struct Unavailable {
    part: &'static str,
    reason: &'static str,
}

impl Default for Readiness {
    fn default() -> Self {
        Self(Arc::new(watch::Sender::new(State::Starting)))
    }
}

impl Readiness {
    pub(super) fn state(&self) -> State {
        *self.0.borrow()
    }

    pub(super) fn start_draining(&self) {
        self.0.send_replace(State::Draining);
    }

    /// Probes again and again; ends with its caller.
    pub(super) async fn keep_probing(self, service: &Service) {
        loop {
            self.note(probe(service, self.state()).await);
            sleep(EVERY).await;
        }
    }

    /// A service that drains is not made ready again.
    fn note(&self, outcome: Outcome) {
        self.0.send_if_modified(|state| {
            let next = State::Probed(outcome);
            let changed = *state != State::Draining && *state != next;
            if changed {
                *state = next;
            }
            changed
        });
    }
}

impl Outcome {
    const UP: Self = Self {
        database: Part::Up,
        room: Part::Up,
    };

    pub(super) fn unavailable(self) -> Vec<Unavailable> {
        let database = (
            self.database,
            "database",
            "The database of the box office does not answer.",
        );
        let room = (self.room, "room", "The waiting room takes no joins now.");
        let down = [database, room]
            .into_iter()
            .filter(|(part, ..)| *part == Part::Down);
        down.map(|(_, part, reason)| Unavailable { part, reason })
            .collect()
    }
}

/// Probes the database and the room, and logs what has changed since the state before.
async fn probe(service: &Service, before: State) -> Outcome {
    let (database, room) = tokio::join!(database(service), room(service));
    let known = match before {
        State::Probed(outcome) => outcome,
        State::Starting | State::Draining => Outcome::UP,
    };
    Outcome {
        database: judge("database", known.database, database),
        room: judge("room", known.room, room),
    }
}

async fn database(service: &Service) -> Result<(), String> {
    match timeout(PROBE_MAX, service.office.probe()).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => Err(error
            .source()
            .map_or_else(|| error.to_string(), ToString::to_string)),
        Err(_) => Err(no_answer()),
    }
}

async fn room(service: &Service) -> Result<(), String> {
    match timeout(PROBE_MAX, service.gatekeeper.ready(&service.room)).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => Err(no_answer()),
    }
}

fn no_answer() -> String {
    format!("no answer within {} seconds", PROBE_MAX.as_secs())
}

/// One line in the log for an outage, and one for its end.
fn judge(part: &'static str, known: Part, probed: Result<(), String>) -> Part {
    match (known, probed) {
        (Part::Up, Err(cause)) => {
            tracing::warn!(part, cause, "not ready: this part is unavailable");
            Part::Down
        }
        (Part::Down, Err(_)) => Part::Down,
        (Part::Down, Ok(())) => {
            tracing::info!(part, "this part is available again");
            Part::Up
        }
        (Part::Up, Ok(())) => Part::Up,
    }
}
