//! Every route, on one screen.

use axum::{
    Router,
    routing::{delete, get, patch, post},
};

use ropeline_web::pages::Book;

use super::{Service, admin, concerts, payment, points, reservations, users};
use crate::pages;

/// With pages out of this book.
pub(super) fn router(service: Service, book: &'static Book) -> Router {
    let pages = pages::router(&service, book);
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
            "/api/v1/admin/concerts/{concertId}",
            patch(admin::change_concert),
        )
        .route(
            "/api/v1/admin/concerts/{concertId}/dates",
            post(admin::create_date),
        )
        .with_state(service)
        .merge(pages)
}
