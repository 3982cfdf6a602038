//! What each code means, at the address that its problems name as `type`.

mod explained;

use axum::{extract::State, response::Response};
use http::HeaderMap;
use ropeline_web::{
    Problem, explain,
    pages::{Page, PagePath},
};

pub use self::explained::EXPLAINED;
use crate::app::App;

/// `/problems/token-expired`, for people or programs.
pub(crate) async fn problem(
    State(app): State<App>,
    PagePath(code): PagePath<String>,
    page: Page,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let beside = app.neighbour.get().map_or(&[][..], |it| it.explained);
    explain(EXPLAINED.iter().chain(beside), &code, page, &headers)
}
