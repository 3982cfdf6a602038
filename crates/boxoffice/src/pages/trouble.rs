//! Pages that say what did not work.

use axum::response::Response;
use minijinja::context;
use ropeline_web::{Kind, Problem, pages::Page};

use crate::http::ApiError;

/// A page for a problem, with a way to try again at `here` and the wait that the API would name.
pub(super) fn trouble(page: Page, here: &str, error: ApiError) -> Response {
    let kind = error.kind();
    let texts = page.texts();
    let content = context! {
        title => texts.get("trouble", "title"),
        reason => sentence(page, kind),
        retry => here,
        code => kind.code,
    };
    // Said to the log as the API would say it.
    let problem = Problem::from(error);
    tracing::debug!(kind.code, ?problem, "a page was not shown");
    page.render_failure(kind.status, "trouble.html", here, content)
}

/// A page for something that there is not.
pub(super) fn missing(page: Page, here: &str, kind: &Kind, [title, note]: [&str; 2]) -> Response {
    let content = context! { title, reason => note, retry => (), code => () };
    page.render_failure(kind.status, "trouble.html", here, content)
}

/// What a person is told of a kind of problem.
pub(super) fn sentence(page: Page, kind: &Kind) -> &'static str {
    let texts = page.texts();
    let told = texts.find("problem", kind.code);
    told.unwrap_or_else(|| texts.get("problem", "other"))
}
