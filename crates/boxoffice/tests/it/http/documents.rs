//! What is written beside the code keeps up with it.

use ropeline_boxoffice::http::CATALOGUE;

#[test]
fn every_code_and_route_is_in_the_document() {
    let document = include_str!("../../../../../docs/BOXOFFICE.md");
    for kind in CATALOGUE {
        let row = format!("| `{}` | {} |", kind.code, kind.status.as_u16());
        assert!(document.lines().any(|line| line.starts_with(&row)), "{row}");
    }
    for (method, path) in super::matrix::routes() {
        let row = format!("| `{method} {path}`");
        assert!(document.lines().any(|line| line.starts_with(&row)), "{row}");
    }
}
