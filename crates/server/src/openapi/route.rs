//! What the routes of this server have in common.

pub(super) use ropeline_web::openapi::{Route, number, text};
use serde_json::Value;
use utoipa::openapi::ObjectBuilder;

pub(super) const USER_ID: &str =
    "The user's id, or the name that the gate says for an anonymous visitor.";

/// The route with its heading, and with what the names in its path stand for. A code is one of `codes`.
pub(super) fn in_place(route: Route, codes: &[String]) -> Route {
    let tag = match route.path.split('/').nth(3) {
        Some("queue") => "queue",
        Some("admin") => "admin",
        Some("service") => "service",
        _ => "operations",
    };
    let names = route.names_in_path();
    names.fold(route.tag(tag), |route, name| match name {
        "room" => route.in_path(name, "The room's id.", room()),
        "userId" => route.in_path(name, USER_ID, user_id()),
        "session" => {
            let id = text().pattern(Some("^[A-Za-z0-9_-]{22}$"));
            route.in_path(
                name,
                "The session's id, as the list of sessions has it.",
                id,
            )
        }
        _ => {
            let code = text().enum_values(Some(codes.to_vec()));
            route.in_path(name, "A problem's code, as in its `type`.", code)
        }
    })
}

pub(super) fn room() -> ObjectBuilder {
    text()
        .pattern(Some("^[a-z0-9-]{1,64}$"))
        .examples([Value::from("main")])
}

pub(super) fn user_id() -> ObjectBuilder {
    text().pattern(Some("^[!-~]{1,128}$"))
}
