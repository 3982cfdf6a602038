use std::collections::BTreeSet;

use ropeline_web::INVALID_REQUEST;
use serde_json::Value;

use super::*;
use crate::error::CATALOGUE;

fn described() -> Value {
    serde_json::from_slice(&DOCUMENT).unwrap()
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

/// `METHOD path` of every route that is not a page, read off the router's own text.
fn operations_routed() -> BTreeSet<String> {
    let text = include_str!("../router.rs").replace(char::is_whitespace, "");
    let routes = text.split(".route(\"").skip(1).flat_map(|rest| {
        let (path, rest) = rest.split_once('"').unwrap();
        let methods = rest.split(".route(").next().unwrap();
        let all = ["get", "post", "put", "patch", "delete"]
            .into_iter()
            .filter(move |method| {
                methods.contains(&format!(",{method}("))
                    || methods.contains(&format!(").{method}("))
            });
        all.map(move |method| format!("{} {path}", method.to_uppercase()))
    });
    let is_page = |route: &String| PAGES.iter().any(|page| route.ends_with(page));
    routes.filter(|route| !is_page(route)).collect()
}

/// Routes for people.
const PAGES: [&str; 8] = [
    "/admin",
    "/admin/login",
    "/admin/logout",
    " /",
    "/wait/{room}",
    "/wait/{room}/join",
    "/wait/{room}/leave",
    "/assets/{digest}/{name}",
];

#[test]
fn every_route_is_described_and_nothing_else() {
    assert_eq!(operations_described(), operations_routed());
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
    fn names(value: &Value, found: &mut BTreeSet<String>) {
        match value {
            Value::Object(map) => {
                for (key, value) in map {
                    match value.as_str() {
                        Some(name) if key == "$ref" => drop(found.insert(name.to_owned())),
                        _ => names(value, found),
                    }
                }
            }
            Value::Array(list) => list.iter().for_each(|value| names(value, found)),
            _ => {}
        }
    }
    let document = described();
    let mut found = BTreeSet::new();
    names(&document, &mut found);
    assert!(found.len() > 10);
    for name in found {
        let pointer = name.strip_prefix('#').unwrap();
        assert!(document.pointer(pointer).is_some(), "{name}");
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
