use std::collections::BTreeSet;

use ropeline_testing::api;
use ropeline_web::INVALID_REQUEST;
use serde_json::Value;

use super::*;
use crate::error::CATALOGUE;

fn described() -> Value {
    serde_json::from_slice(&DOCUMENT).unwrap()
}

/// Every route that is not a page.
fn operations_routed() -> BTreeSet<(String, String)> {
    let mut routes = api::routes(include_str!("../router.rs"));
    routes.retain(|(_, path)| !PAGES.contains(&path.as_str()));
    routes.into_iter().collect()
}

/// Routes for people.
const PAGES: [&str; 8] = [
    "/admin",
    "/admin/login",
    "/admin/logout",
    "/",
    "/wait/{room}",
    "/wait/{room}/join",
    "/wait/{room}/leave",
    "/assets/{digest}/{name}",
];

#[test]
fn every_route_is_described_and_nothing_else() {
    assert_eq!(api::operations(&described()), operations_routed());
    assert!(
        operations_routed().len() > 20,
        "the router's text is understood"
    );
}

#[test]
fn every_code_is_described_somewhere() {
    let text = String::from_utf8(DOCUMENT.clone()).unwrap();
    for kind in CATALOGUE.iter().chain([&&INVALID_REQUEST]) {
        assert!(
            text.contains(&format!("\"{}\"", kind.code)),
            "{}",
            kind.code
        );
    }
}

#[test]
fn every_shape_that_is_named_is_there() {
    let document = described();
    let found = api::references(&document);
    assert!(found.len() > 10);
    for pointer in found {
        assert!(document.pointer(&pointer).is_some(), "{pointer}");
    }
}

#[test]
fn every_operation_has_an_example_of_what_it_answers() {
    for item in described()["paths"].as_object().unwrap().values() {
        for operation in item.as_object().unwrap().values() {
            for (status, response) in operation["responses"].as_object().unwrap() {
                let Some(content) = response["content"].as_object() else {
                    continue;
                };
                for (kind, content) in content {
                    let shown = !content["example"].is_null() || !content["examples"].is_null();
                    let id = &operation["operationId"];
                    assert!(shown || kind == "text/plain", "{id} {status} {kind}");
                }
            }
        }
    }
}
