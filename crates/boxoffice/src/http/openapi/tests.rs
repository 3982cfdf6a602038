use std::collections::BTreeSet;

use ropeline_testing::api;
use serde_json::Value;

use super::*;
use crate::http::CATALOGUE;

fn described() -> Value {
    serde_json::to_value(openapi()).unwrap()
}

fn operations_routed() -> BTreeSet<(String, String)> {
    let routes = api::routes(include_str!("../router.rs"));
    routes.into_iter().collect()
}

#[test]
fn every_route_is_described_and_nothing_else() {
    assert_eq!(api::operations(&described()), operations_routed());
    assert_eq!(
        operations_routed().len(),
        14,
        "the router's text is understood"
    );
}

#[test]
fn what_a_box_office_answers_alone_is_described_too() {
    let routes = api::routes(include_str!("../standalone/mod.rs"));
    let routed = operations_routed().into_iter().chain(routes).collect();
    let described = serde_json::to_value(standalone()).unwrap();
    assert_eq!(api::operations(&described), routed);
}

#[test]
fn every_code_is_described_somewhere() {
    let text = described().to_string();
    for kind in CATALOGUE {
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
    assert!(found.len() > 10, "{found:?}");
    for pointer in found {
        assert!(document.pointer(&pointer).is_some(), "{pointer}");
    }
}

#[test]
fn every_answer_with_a_body_has_an_example() {
    for item in described()["paths"].as_object().unwrap().values() {
        for operation in item.as_object().unwrap().values() {
            for (status, response) in operation["responses"].as_object().unwrap() {
                let contents = response["content"].as_object().into_iter().flatten();
                for (_, content) in contents {
                    let shown = !content["example"].is_null() || !content["examples"].is_null();
                    assert!(shown, "{} {status}", operation["operationId"]);
                }
            }
        }
    }
}
