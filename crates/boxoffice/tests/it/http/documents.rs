//! What is written beside the code keeps up with it.

use ropeline_boxoffice::http::CATALOGUE;

use super::matrix::routes;

const API: &str = include_str!("../../../../../docs/API.md");
const BOXOFFICE: &str = include_str!("../../../../../docs/BOXOFFICE.md");

#[test]
fn every_code_is_in_the_document_of_the_api() {
    for kind in CATALOGUE {
        let row = format!("| `{}` | {} |", kind.code, kind.status.as_u16());
        assert!(API.lines().any(|line| line.starts_with(&row)), "{row}");
    }
}

#[test]
fn every_route_is_in_the_document_of_the_box_office() {
    for (method, path) in routes() {
        let row = format!("| `{method} {path}`");
        assert!(
            BOXOFFICE.lines().any(|line| line.starts_with(&row)),
            "{row}"
        );
    }
}
