//! Every route, on one screen.

use axum::{
    Router,
    routing::{delete, get, patch, post},
};
use http::Method;

use super::{Service, admin, concerts, payment, points, reservations, users};
use crate::pages;

/// Whether a request counts as a join: it makes a user, over the API or by the form of a page, or gives one a place.
pub fn counts_as_join(method: &Method, path: &str) -> bool {
    let posts = *method == Method::POST;
    let user = path
        .strip_prefix("/user/")
        .and_then(|rest| rest.strip_suffix("/token/generate"));
    match user {
        // HEAD is answered by the handler of GET.
        Some(_) => posts || matches!(*method, Method::GET | Method::HEAD),
        None => posts && (path == "/user" || path.starts_with("/tickets/")),
    }
}

pub(super) fn router(service: Service) -> Router {
    let pages = pages::router(&service);
    let gated = Router::new()
        .route("/concert/dates", get(concerts::dates))
        .route("/concert/{concertDateId}/seats", get(concerts::seats))
        .route("/concert/{seatId}/reservation", post(reservations::reserve))
        .route_layer(service.gate.clone());
    Router::new()
        .merge(gated)
        .route("/user", post(users::create))
        .route(
            "/user/{userId}/token/generate",
            get(users::token).post(users::token),
        )
        .route("/user/charge/{userId}/point", patch(points::charge))
        .route("/user/{userId}/point", get(points::balance))
        .route("/user/{userId}/reservations", get(reservations::list))
        .route(
            "/user-concert/payment/{userId}/{reservationId}",
            post(payment::pay),
        )
        .route(
            "/reservation/{reservationId}",
            delete(reservations::give_up),
        )
        .route("/api/v1/admin/concerts", post(admin::create_concert))
        .route(
            "/api/v1/admin/concerts/{concertId}/dates",
            post(admin::create_date),
        )
        .with_state(service)
        .merge(pages)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_gives_a_place_or_makes_a_user_counts_as_a_join() {
        let generate = "/user/42/token/generate";
        for (method, path, counts) in [
            (Method::GET, generate, true),
            (Method::HEAD, generate, true),
            (Method::POST, generate, true),
            (Method::OPTIONS, generate, false),
            (Method::POST, "/user", true),
            (Method::POST, "/tickets/1", true),
            (Method::GET, "/tickets/1", false),
            (Method::GET, "/user/42/point", false),
            (Method::GET, "/concert/dates", false),
        ] {
            assert_eq!(counts_as_join(&method, path), counts, "{method} {path}");
        }
    }
}
