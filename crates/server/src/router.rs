//! Every route, on one screen.

use axum::{
    Router,
    middleware::from_fn_with_state,
    routing::{delete, get, post, put},
};
use http::{HeaderName, HeaderValue, Method, header};
use ropeline_web::{
    Tasks,
    pages::{method_not_allowed, not_found},
};
use tower_http::cors::CorsLayer;

use crate::{
    admin,
    app::App,
    audit::{complete, complete_for_operators},
    health, openapi, pages, problems, queue, service,
};

/// With a service beside the rooms its page is at `/`, and that of the rooms at `/rooms`. Changes that belong in the audit
/// log are made in `tasks`.
pub(crate) fn router(app: App, beside: Option<Router>, tasks: &Tasks) -> Router {
    let home = match beside {
        Some(_) => "/rooms",
        None => "/",
    };
    let with_key = Router::new()
        .route("/api/v1/admin/rooms", get(admin::rooms).post(admin::create))
        .route(
            "/api/v1/admin/rooms/{room}",
            get(admin::room).patch(admin::change).delete(admin::delete),
        )
        .route("/api/v1/admin/rooms/{room}/pause", post(admin::pause))
        .route("/api/v1/admin/rooms/{room}/resume", post(admin::resume))
        .route("/api/v1/admin/rooms/{room}/open", post(admin::open))
        .route("/api/v1/admin/rooms/{room}/close", post(admin::close))
        .route("/api/v1/admin/rooms/{room}/drain", post(admin::drain))
        .route("/api/v1/admin/rooms/{room}/reset", post(admin::reset))
        .route("/api/v1/admin/rooms/{room}/admit", post(admin::admit))
        .route("/api/v1/admin/rooms/{room}/stats", get(admin::stats))
        .route(
            "/api/v1/admin/rooms/{room}/visitors",
            get(admin::find_named).delete(admin::revoke_named),
        )
        .route(
            "/api/v1/admin/rooms/{room}/visitors/{userId}",
            get(admin::find).delete(admin::revoke),
        )
        .route(
            "/api/v1/admin/sessions",
            get(admin::sessions).delete(admin::end_sessions),
        )
        .route(
            "/api/v1/admin/sessions/{session}",
            delete(admin::end_session),
        )
        .route("/api/v1/service/rooms/{room}/verify", post(service::verify))
        .route("/api/v1/service/rooms/{room}/tokens", post(service::join))
        .route("/api/v1/service/rooms/{room}/keep", post(service::keep))
        .route("/api/v1/service/rooms/{room}/finish", post(service::finish))
        .route("/api/v1/service/rooms/{room}/ready", get(service::ready))
        .route("/api/v1/service/rooms/{room}/stock", put(service::stock))
        .route("/admin/login", post(pages::log_in))
        .route("/admin/logout", post(pages::log_out))
        .layer(from_fn_with_state(tasks.clone(), complete));
    let rooms = Router::new()
        .route("/api/v1/queue/tokens", post(queue::join))
        .route("/api/v1/queue/tokens", delete(queue::leave))
        .route("/api/v1/queue/status", get(queue::status))
        .route("/api/v1/queue/verify", get(queue::verify))
        .route("/problems/{code}", get(problems::problem))
        .route(home, get(pages::home))
        .route("/wait/{room}", get(pages::wait))
        .route("/wait/{room}/join", post(pages::join))
        .route("/wait/{room}/leave", post(pages::leave))
        .route("/admin", get(pages::admin))
        .route("/assets/{digest}/{name}", get(pages::asset_file))
        .route("/healthz", get(health::alive))
        .route("/readyz", get(health::ready))
        .route("/metrics", get(health::metrics))
        .route("/openapi.json", get(openapi::json))
        .merge(openapi::reader())
        .merge(with_key)
        .fallback(not_found)
        .method_not_allowed_fallback(method_not_allowed)
        .with_state(app.clone());
    let guard = from_fn_with_state(app, admin::guard);
    match beside {
        Some(beside) => {
            let completed = from_fn_with_state(tasks.clone(), complete_for_operators);
            rooms.merge(beside.reset_fallback().layer(guard).layer(completed))
        }
        None => rooms,
    }
}

/// Lets pages of these origins call the API from a browser; without any, nothing is added.
pub(crate) fn cors(router: Router, origins: &[String]) -> Router {
    if origins.is_empty() {
        return router;
    }
    let origins = origins
        .iter()
        .filter_map(|origin| HeaderValue::try_from(origin).ok());
    let own = [
        "x-queue-token",
        "token",
        "x-queue-version",
        "x-queue-ahead",
        "idempotency-key",
        "x-request-id",
    ];
    let own = own.map(HeaderName::from_static);
    let headers = own
        .into_iter()
        .chain([header::AUTHORIZATION, header::CONTENT_TYPE]);
    let layer = CorsLayer::new()
        .allow_origin(origins.collect::<Vec<_>>())
        .allow_methods([Method::GET, Method::POST, Method::PATCH, Method::DELETE])
        .allow_headers(headers.collect::<Vec<_>>())
        .expose_headers([
            header::RETRY_AFTER,
            HeaderName::from_static("x-queue-version"),
            HeaderName::from_static("x-request-id"),
        ])
        .allow_credentials(true);
    router.layer(layer)
}
