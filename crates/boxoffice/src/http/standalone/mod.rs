//! The box office as a service of its own: what it answers where no server of rooms answers for it.

mod readiness;

use axum::{
    Router,
    extract::{FromRef, State},
    response::{IntoResponse, Response},
    routing::get,
};
use http::{HeaderMap, StatusCode};
use ropeline_web::{
    Explained, Json, Path, Problem, Tasks, explain,
    pages::{Book, Page},
};
use serde_json::{Value, json};

use self::readiness::{Readiness, State as Ready};
use super::{Service, explained::EXPLAINED, openapi::standalone as described};
use crate::pages::BOOK_ALONE;

/// A box office that is served alone, cheap to clone.
#[derive(Debug, Clone)]
pub struct Standalone {
    service: Service,
    readiness: Readiness,
    /// The codes that it shares with the rooms.
    shared: &'static [Explained],
}

impl Standalone {
    /// Serves `service` alone. `shared` explains the codes that the rooms answer with too.
    pub fn new(service: Service, shared: &'static [Explained]) -> Self {
        Self {
            service,
            readiness: Readiness::default(),
            shared,
        }
    }

    /// Every route of the service, and those that load balancers, monitoring and programmers ask for.
    pub fn router(&self) -> Router {
        let own = Router::new()
            .route("/healthz", get(alive))
            .route("/readyz", get(ready))
            .route("/openapi.json", get(description))
            .route("/problems/{code}", get(problem))
            .with_state(self.clone());
        self.service.router_alone().merge(own)
    }

    /// Does what is owed to the waiting room, and probes what the box office cannot sell without, until the tasks are
    /// asked to stop.
    pub fn run(&self, tasks: &Tasks) {
        self.service.run(tasks);
        let (readiness, service) = (self.readiness.clone(), self.service.clone());
        let stopping = tasks.stopping();
        tasks.spawn(async move {
            stopping
                .run_until_cancelled(readiness.keep_probing(&service))
                .await;
        });
    }

    /// Tells load balancers to send nobody here any more.
    pub fn start_draining(&self) {
        self.readiness.start_draining();
    }
}

impl FromRef<Standalone> for &'static Book {
    fn from_ref(_: &Standalone) -> Self {
        &BOOK_ALONE
    }
}

/// The process answers.
async fn alive() -> Json<Value> {
    Json(json!({"status": "ok"}))
}

/// Whether seats can be sold: the database and the waiting room answered when they were last probed. The probes run in
/// the background, so this answers at once.
async fn ready(State(alone): State<Standalone>) -> Response {
    let (status, degraded) = match alone.readiness.state() {
        Ready::Starting => ("starting", Vec::new()),
        Ready::Draining => ("draining", Vec::new()),
        Ready::Probed(outcome) => match outcome.unavailable() {
            parts if parts.is_empty() => ("ready", parts),
            parts => ("unavailable", parts),
        },
    };
    let code = match status {
        "ready" => StatusCode::OK,
        _ => StatusCode::SERVICE_UNAVAILABLE,
    };
    (code, Json(json!({"status": status, "degraded": degraded}))).into_response()
}

async fn description() -> Json<Value> {
    let document = serde_json::to_value(described());
    Json(document.expect("the description is plain data"))
}

async fn problem(
    State(alone): State<Standalone>,
    Path(code): Path<String>,
    page: Page,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let all = alone.shared.iter().chain(EXPLAINED);
    explain(all, &code, page, &headers)
}
