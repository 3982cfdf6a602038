//! Changes over HTTP, noted with what was asked for and what came of it.

use std::{convert::Infallible, path::Path, sync::Arc, time::Duration};

use axum::{
    Router,
    body::{Body, Bytes},
    extract::{Request, State},
    middleware::{Next, from_fn_with_state},
    response::{IntoResponse, Response},
};
use http::header::AUTHORIZATION;
use ropeline_core::Clock;
use ropeline_web::{
    Client, KeyRefused, Problem, RATE_LIMITED, RequestId, Tasks, TrustedProxies, UNAUTHORIZED,
    read_body,
};
use serde_json::{Value, json};

use super::{Api, Audit, Entry, Proof, WrongKey, complete_for_operators, path};
use crate::{StartError, moment::Moment};

/// Below this are the routes for operators.
const OPERATORS: &str = "/api/v1/admin/";
/// A request with a longer body is noted by its length alone: what matters is short, and the log is kept for long.
const DETAILS_BYTES_MAX: usize = 4 * 1024;
/// How often a look is taken at what was counted.
const LOOK: Duration = Duration::from_secs(1);

/// Whether a request changes something that is for operators.
pub(crate) fn is_change(request: &Request) -> bool {
    is_for_operators(request) && !request.method().is_safe()
}

/// Whether a request is for operators alone.
pub(crate) fn is_for_operators(request: &Request) -> bool {
    request.uri().path().starts_with(OPERATORS)
}

/// What a request wanted to change, and what came of it.
pub(crate) struct Change {
    pub(crate) action: String,
    pub(crate) details: Value,
    /// `done`, the code of the problem, or the status where there is no code.
    pub(crate) outcome: String,
}

/// Lets a request be answered, and says what it was about; nothing if its body could not be read.
pub(crate) async fn watched(request: Request, next: Next) -> (Response, Option<Change>) {
    let (parts, body) = request.into_parts();
    let action = format!("{} {}", parts.method, parts.uri.path());
    let body = match read_body(body).await {
        Ok(body) => body,
        Err(problem) => return (problem.into_response(), None),
    };
    let details = details(&body);
    let answer = next.run(Request::from_parts(parts, Body::from(body))).await;
    let change = Change {
        action,
        details,
        outcome: outcome(&answer),
    };
    (answer, Some(change))
}

fn details(body: &Bytes) -> Value {
    let length = || json!({"bytes": body.len()});
    if body.len() > DETAILS_BYTES_MAX {
        return length();
    }
    serde_json::from_slice(body).unwrap_or_else(|_| length())
}

/// The code of the problem, if the answer is one.
fn code(answer: &Response) -> Option<&'static str> {
    let problem: Option<&Problem> = answer.extensions().get();
    problem.map(|problem| problem.kind().code)
}

fn outcome(answer: &Response) -> String {
    match code(answer) {
        Some(code) => code.to_owned(),
        None if answer.status().is_success() => "done".to_owned(),
        None => answer.status().as_u16().to_string(),
    }
}

/// The audit log of a service that runs by itself, without the server of the rooms.
#[derive(Debug, Clone)]
pub struct ServiceLog(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    audit: Audit,
    clock: Arc<dyn Clock>,
    trusted_proxies: TrustedProxies,
}

impl ServiceLog {
    /// Opens the log of a data directory.
    pub fn open(
        directory: &Path,
        clock: Arc<dyn Clock>,
        trusted_proxies: TrustedProxies,
    ) -> Result<Self, StartError> {
        let path = path(directory);
        let audit = Audit::open(&path).map_err(|cause| StartError::Audit { path, cause })?;
        Ok(Self(Arc::new(Inner {
            audit,
            clock,
            trusted_proxies,
        })))
    }

    /// Notes what operators change by these routes, and keys that are wrong. What they change is done to its end in
    /// `tasks`, also if their connection breaks.
    pub fn note(&self, router: Router, tasks: &Tasks) -> Router {
        router
            .layer(from_fn_with_state(self.clone(), note))
            .layer(from_fn_with_state(tasks.clone(), complete_for_operators))
    }

    /// Notes that the settings were reloaded, in the file of that name, which may be a new one by now.
    pub async fn note_reload(&self) {
        self.0.audit.note_reload(self.0.clock.now()).await;
    }

    /// Writes what was counted once a minute, for ever.
    pub async fn write_counts(&self) -> Infallible {
        loop {
            tokio::time::sleep(LOOK).await;
            self.0.audit.write_counts(self.0.clock.now()).await;
        }
    }

    /// Writes what was only counted.
    pub async fn close(&self) {
        self.0.audit.close(self.0.clock.now()).await;
    }
}

async fn note(State(ServiceLog(log)): State<ServiceLog>, request: Request, next: Next) -> Response {
    let shows_a_key = request.headers().contains_key(AUTHORIZATION);
    if !is_for_operators(&request) || !shows_a_key {
        return next.run(request).await;
    }
    let is_change = is_change(&request);
    let (parts, body) = request.into_parts();
    let address = Client::of(&parts, &log.trusted_proxies).address;
    let id: Option<&RequestId> = parts.extensions.get();
    let request_id = id.map(ToString::to_string);
    let (answer, change) = watched(Request::from_parts(parts, body), next).await;
    let Some(change) = change else {
        return answer;
    };
    let now = log.clock.now();
    if answer.extensions().get::<KeyRefused>().is_some() {
        let wrong = WrongKey {
            at: Moment(now),
            api: Api::Admin,
            outcome: code(&answer).unwrap_or(UNAUTHORIZED.code),
            address,
            request_id,
        };
        log.audit.write_wrong_key(wrong).await;
    } else if code(&answer) == Some(RATE_LIMITED.code) {
        log.audit.count_limited(now, Proof::Key, address);
    } else if is_change {
        let entry = Entry {
            at: Moment(now),
            action: change.action.into(),
            room: None,
            details: change.details,
            outcome: change.outcome.into(),
            by: Some(Proof::Key),
            address: Some(address),
            request_id,
        };
        log.audit.write(entry).await;
    }
    answer
}
