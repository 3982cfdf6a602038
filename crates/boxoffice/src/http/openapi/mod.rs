//! The API described for programs.
//!
//! Shapes come from the types that handlers read and write, problems from the catalogue. What each route does stands in
//! [`operations()`], and a test holds that list to the router.

mod operations;
#[cfg(test)]
mod tests;

use ropeline_web::openapi::{Route, bearer, problem_schema, queue_token};
use utoipa::{
    ToSchema,
    openapi::{
        ComponentsBuilder, InfoBuilder, OpenApi, OpenApiBuilder, PathsBuilder, RefOr, Schema,
    },
};

use self::operations::{alone, operations};
use super::{admin, concerts, payment, points, reservations, users};

/// The description of every route but those of pages.
pub fn openapi() -> OpenApi {
    document(operations())
}

/// The same of a box office that is served alone, with the routes that it has for itself.
pub(super) fn standalone() -> OpenApi {
    document(operations().into_iter().chain(alone()))
}

fn document(routes: impl IntoIterator<Item = Route>) -> OpenApi {
    let mut paths = PathsBuilder::new();
    for route in routes {
        paths = paths.path(route.path, route.item());
    }
    let info = InfoBuilder::new()
        .title("Ropeline box office")
        .version(env!("CARGO_PKG_VERSION"))
        .description(Some(
            "Points, dates, seats, holds and payments, behind a waiting room.",
        ));
    OpenApiBuilder::new()
        .info(info)
        .paths(paths)
        .components(Some(components().build()))
        .build()
}

fn components() -> ComponentsBuilder {
    ComponentsBuilder::new()
        .schemas_from_iter(shapes())
        .schema("Problem", problem_schema())
        .security_scheme("queueToken", queue_token())
        .security_scheme(
            "accessToken",
            bearer("The `accessToken` of `POST /user`; its cookie does as well."),
        )
        .security_scheme("adminKey", bearer("The admin key."))
}

fn shapes() -> [(String, RefOr<Schema>); 17] {
    [
        named::<users::NewUser>(),
        named::<users::UserView>(),
        named::<points::PointsView>(),
        named::<points::Charge>(),
        named::<points::ChargedView>(),
        named::<concerts::DateList>(),
        named::<concerts::DateView>(),
        named::<concerts::SeatList>(),
        named::<concerts::SeatView>(),
        named::<reservations::ReservationView>(),
        named::<reservations::ReservationList>(),
        named::<payment::PaymentView>(),
        named::<admin::NewConcert>(),
        named::<admin::ChangedConcert>(),
        named::<admin::ConcertView>(),
        named::<admin::NewDate>(),
        named::<admin::NewSeat>(),
    ]
}

fn named<T: ToSchema>() -> (String, RefOr<Schema>) {
    (T::name().into_owned(), T::schema())
}
