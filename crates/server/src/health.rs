//! For load balancers and monitoring.

use axum::{
    extract::State,
    response::{IntoResponse, Response},
};
use http::{StatusCode, header::CONTENT_TYPE};
use ropeline_store::Health;
use ropeline_web::Json;
use serde_json::json;

use crate::app::App;

/// The process answers.
pub(crate) async fn alive() -> Response {
    Json(json!({"status": "ok"})).into_response()
}

/// Joins are served. While draining this is 503; while the store is away it stays 200 and says so, since
/// taking the waiting room away would not bring the store back.
pub(crate) async fn ready(State(app): State<App>) -> Response {
    if app.is_draining() {
        let body = Json(json!({"status": "draining"}));
        return (StatusCode::SERVICE_UNAVAILABLE, body).into_response();
    }
    match app.store.health() {
        Health::Up => Json(json!({"status": "ready", "degraded": []})),
        Health::Down(reason) => {
            let mut degraded = vec![json!({"part": "store", "reason": &*reason})];
            let gate = app.outage.said_of_gate();
            degraded.extend(gate.map(|reason| json!({"part": "gate", "reason": reason})));
            Json(json!({"status": "degraded", "degraded": degraded}))
        }
    }
    .into_response()
}

pub(crate) async fn metrics(State(app): State<App>) -> Response {
    let text = app.metrics.render(&*app.store, &app.histories);
    (
        [(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")],
        text,
    )
        .into_response()
}
