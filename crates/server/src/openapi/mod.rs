//! The API described for programs: `/openapi.json`, and `/docs` to read and try it.
//!
//! Shapes come from the types that handlers read and write, problems from the catalogue. What each route
//! does stands in [`operations`], and a test holds that list to the router.

mod operations;
mod problems;
mod route;
mod service;
#[cfg(test)]
mod tests;

use std::sync::LazyLock;

use axum::{
    Router,
    extract::State,
    response::{IntoResponse, Response},
};
use http::{
    HeaderValue,
    header::{CONTENT_SECURITY_POLICY, X_FRAME_OPTIONS},
};
use ropeline_web::{
    Explained, JsonText,
    openapi::{bearer, problem_schema, queue_token},
};
use utoipa::openapi::{
    ComponentsBuilder, InfoBuilder, OpenApi, OpenApiBuilder, PathsBuilder,
    security::{HttpAuthScheme, HttpBuilder, SecurityScheme},
};
use utoipa_swagger_ui::{Config, SwaggerUi};

use self::operations::operations;
use crate::{admin, app::App, queue, service as services};

static DOCUMENT: LazyLock<Vec<u8>> = LazyLock::new(|| written(&document(&[])));

/// The reader's scripts and styles come from here; it styles its own elements in place.
const READER_POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
     connect-src 'self'; frame-ancestors 'none'",
);

/// The description as JSON.
pub(crate) async fn json(State(app): State<App>) -> Response {
    let neighbour = app.neighbour.get();
    let document = neighbour.map_or(&*DOCUMENT, |neighbour| &neighbour.document);
    JsonText(document.clone()).into_response()
}

/// The description of the rooms and of a service beside them, as JSON.
pub(crate) fn document_with(beside: OpenApi, explained: &[Explained]) -> Vec<u8> {
    written(&document(explained).merge_from(beside))
}

fn written(document: &OpenApi) -> Vec<u8> {
    serde_json::to_vec(document).expect("the description is plain data")
}

/// `/docs`, a page on which the API at `/openapi.json` is read and tried. Everything it needs is in the program.
pub fn reader<S: Clone + Send + Sync + 'static>() -> Router<S> {
    let config = Config::new(["/openapi.json"]).try_it_out_enabled(true);
    let reader: Router<S> = SwaggerUi::new("/docs").config(config).into();
    reader.layer(axum::middleware::map_response(
        async |mut response: Response| {
            let headers = response.headers_mut();
            headers.insert(CONTENT_SECURITY_POLICY, READER_POLICY);
            headers.insert(X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
            response
        },
    ))
}

/// The description of the rooms, on a server that explains these problems beside theirs.
fn document(beside: &[Explained]) -> OpenApi {
    let mut paths = PathsBuilder::new();
    for route in operations(&problems::slugs(beside)) {
        paths = paths.path(route.path, route.item());
    }
    let info = InfoBuilder::new()
        .title("Ropeline")
        .version(env!("CARGO_PKG_VERSION"))
        .description(Some(
            "A virtual waiting room. Join, ask where you are, and enter when it is your turn; every \
             failure is an RFC 9457 problem with a stable `code`.",
        ));
    OpenApiBuilder::new()
        .info(info)
        .paths(paths)
        .components(Some(components().build()))
        .build()
}

fn components() -> ComponentsBuilder {
    let login = HttpBuilder::new()
        .scheme(HttpAuthScheme::Bearer)
        .bearer_format("JWT")
        .description(Some(
            "The site's own login token, where its keys are configured.",
        ));
    ComponentsBuilder::new()
        .schema_from::<queue::PlaceView<'_>>()
        .schema_from::<queue::EtaRange>()
        .schema_from::<queue::JoinRequest>()
        .schemas_from_iter(admin::schemas())
        .schemas_from_iter(services::schemas())
        .schema("Problem", problem_schema())
        .security_scheme("queueToken", queue_token())
        .security_scheme("login", SecurityScheme::Http(login.build()))
        .security_scheme(
            "adminKey",
            bearer("The admin key, printed at the first start."),
        )
        .security_scheme(
            "serviceKey",
            bearer("The service key, if the operator has set one."),
        )
}
