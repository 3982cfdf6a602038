use std::collections::BTreeSet;

use serde_json::Value;

use super::*;
use crate::http::CATALOGUE;

fn described() -> Value {
    serde_json::to_value(openapi()).unwrap()
}

/// `METHOD path` of every operation in the description.
fn operations_described() -> BTreeSet<String> {
    let document = described();
    let paths = document["paths"].as_object().unwrap();
    let all = paths.iter().flat_map(|(path, item)| {
        let methods = item.as_object().unwrap().keys();
        methods.map(move |method| format!("{} {path}", method.to_uppercase()))
    });
    all.collect()
}

/// `METHOD path` of every route, read off the router's own text.
fn operations_routed() -> BTreeSet<String> {
    let text = include_str!("../router.rs").replace(char::is_whitespace, "");
    let routes = text.split(".route(\"").skip(1).flat_map(|rest| {
        let (path, rest) = rest.split_once('"').unwrap();
        let methods = rest.split(".route").next().unwrap();
        let all = ["get", "post", "put", "patch", "delete"].into_iter();
        let named = all.filter(move |method| {
            methods.contains(&format!(",{method}(")) || methods.contains(&format!(").{method}("))
        });
        named.map(move |method| format!("{} {path}", method.to_uppercase()))
    });
    routes.collect()
}

#[test]
fn every_route_is_described_and_nothing_else() {
    assert_eq!(operations_described(), operations_routed());
    assert_eq!(
        operations_routed().len(),
        12,
        "the router's text is understood"
    );
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
    let text = document.to_string();
    let names: BTreeSet<_> = text
        .split("\"$ref\":\"#")
        .skip(1)
        .map(|rest| rest.split('"').next().unwrap())
        .collect();
    assert!(names.len() > 10, "{names:?}");
    for name in names {
        assert!(document.pointer(name).is_some(), "{name}");
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
