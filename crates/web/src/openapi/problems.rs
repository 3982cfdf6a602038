//! Problems, described from the catalogue.

use std::collections::BTreeMap;

use http::StatusCode;
use serde_json::json;
use utoipa::openapi::{
    ArrayBuilder, ContentBuilder, ObjectBuilder, Ref, RefOr, Response, ResponseBuilder, Schema,
    Type, example::ExampleBuilder,
};

use crate::{INVALID_REQUEST, Kind};

/// The shape of every problem.
pub fn problem_schema() -> RefOr<Schema> {
    let text = |about: &str| {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .description(Some(about))
    };
    let number = |about: &str| {
        ObjectBuilder::new()
            .schema_type(Type::Integer)
            .description(Some(about))
    };
    let error = ObjectBuilder::new()
        .property("field", text("Where, as `policy.batch`."))
        .property("message", text("What would be right."))
        .required("field")
        .required("message");
    let problem = ObjectBuilder::new()
        .property("type", text("A page that explains the code."))
        .property("title", text("The same sentence for every occurrence."))
        .property("status", number("The status of the answer."))
        .property("code", text("What a client acts on."))
        .property("detail", text("What to do next."))
        .property("requestId", text("The same as in the log."))
        .property("errors", ArrayBuilder::new().items(error))
        .property("position", number("`NOT_ADMITTED` only."))
        .property("pollAfterMs", number("`NOT_ADMITTED` only."))
        .property(
            "reason",
            text(
                "`TOKEN_EXPIRED` (`EXPIRED`, `FINISHED`) and `TOKEN_NOT_FOUND` (`LEFT`, `REMOVED`, `RESET`, `MISSED`) \
                 only, where it is known why the place ended.",
            ),
        );
    let problem = ["type", "title", "status", "code", "detail", "requestId"]
        .into_iter()
        .fold(problem, ObjectBuilder::required);
    RefOr::T(problem.into())
}

/// One response for each status that these kinds have, with an example for each kind.
pub(super) fn responses(kinds: &[&'static Kind]) -> Vec<(StatusCode, Response)> {
    let mut by_status: BTreeMap<StatusCode, Vec<&Kind>> = BTreeMap::new();
    for kind in kinds {
        for status in statuses(kind) {
            by_status.entry(*status).or_default().push(kind);
        }
    }
    let described = by_status
        .into_iter()
        .map(|(status, kinds)| (status, response(status, &kinds)));
    described.collect()
}

/// What is wrong with a request decides among four.
fn statuses(kind: &'static Kind) -> &'static [StatusCode] {
    const INVALID: [StatusCode; 4] = [
        StatusCode::BAD_REQUEST,
        StatusCode::PAYLOAD_TOO_LARGE,
        StatusCode::UNSUPPORTED_MEDIA_TYPE,
        StatusCode::UNPROCESSABLE_ENTITY,
    ];
    if *kind == INVALID_REQUEST {
        &INVALID
    } else {
        std::slice::from_ref(&kind.status)
    }
}

fn response(status: StatusCode, kinds: &[&Kind]) -> Response {
    let about: Vec<_> = kinds
        .iter()
        .map(|kind| format!("`{}`: {}", kind.code, kind.title))
        .collect();
    let examples = kinds.iter().map(|kind| {
        let value = json!({
            "type": kind.type_path(),
            "title": kind.title,
            "status": status.as_u16(),
            "code": kind.code,
            "detail": format!("{}.", kind.title),
            "requestId": "01J9Z3W0C7",
        });
        let example = ExampleBuilder::new().summary(kind.title).value(Some(value));
        (kind.code, example.build())
    });
    let content = ContentBuilder::new()
        .schema(Some(Ref::from_schema_name("Problem")))
        .examples_from_iter(examples);
    ResponseBuilder::new()
        .description(about.join("; "))
        .content("application/problem+json", content.build())
        .build()
}
