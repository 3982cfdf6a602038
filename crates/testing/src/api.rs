//! Reading a service's routes off its router's own text, and its description, to hold one to the other.

use std::collections::BTreeSet;

use serde_json::Value;

const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];

/// Method and path of every `.route("…", …)` in the text of a router.
pub fn routes(router: &str) -> Vec<(String, String)> {
    let text = router.replace(char::is_whitespace, "");
    let routes = text.split(".route(\"").skip(1).flat_map(|rest| {
        let (path, rest) = rest.split_once('"').expect("a path ends");
        let handlers = rest.split(".route").next().unwrap_or_default();
        let named = METHODS.into_iter().filter(move |method| {
            handlers.contains(&format!(",{method}(")) || handlers.contains(&format!(").{method}("))
        });
        named.map(move |method| (method.to_uppercase(), path.to_owned()))
    });
    routes.collect()
}

/// Method and path of every operation in a description.
pub fn operations(document: &Value) -> BTreeSet<(String, String)> {
    let paths = document["paths"]
        .as_object()
        .expect("a description has paths");
    let all = paths.iter().flat_map(|(path, item)| {
        let methods = item.as_object().expect("a path has operations").keys();
        methods.map(move |method| (method.to_uppercase(), path.clone()))
    });
    all.collect()
}

/// The pointer of everything that a description refers to.
pub fn references(document: &Value) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    collect(document, &mut found);
    found
}

fn collect(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                match value.as_str().and_then(|name| name.strip_prefix('#')) {
                    Some(pointer) if key == "$ref" => drop(found.insert(pointer.to_owned())),
                    _ => collect(value, found),
                }
            }
        }
        Value::Array(list) => list.iter().for_each(|value| collect(value, found)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_method_of_every_route_is_read() {
        let text = r#"
            .route("/a", get(a).post(b))
            .route(
                "/b/{id}",
                delete(c),
            )
            .merge(d)
            .route_layer(e)"#;
        let expected = [("GET", "/a"), ("POST", "/a"), ("DELETE", "/b/{id}")];
        let expected = expected.map(|(method, path)| (method.to_owned(), path.to_owned()));
        assert_eq!(routes(text), expected);
    }

    #[test]
    fn operations_and_references_are_found_wherever_they_stand() {
        let document = json!({
            "paths": {"/a": {"get": {"answers": [{"$ref": "#/components/A"}]}}},
            "components": {"A": {"$ref": "#/components/B"}},
        });
        let get = ("GET".to_owned(), "/a".to_owned());
        assert_eq!(operations(&document), BTreeSet::from([get]));
        let both = ["/components/A", "/components/B"].map(str::to_owned);
        assert_eq!(references(&document), BTreeSet::from(both));
    }
}
