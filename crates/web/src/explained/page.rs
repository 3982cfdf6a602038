//! What each code means, at the address that its problems name as `type`.

use axum::response::{IntoResponse, Response};
use http::HeaderMap;
use minijinja::context;
use serde_json::json;

use super::{Explained, Words};
use crate::{
    Json, NOT_FOUND, Problem,
    pages::{Page, opened_by_a_person, varies_by_reader},
};

/// Answers `/problems/token-expired`, for people or programs, from what a service explains. The code itself,
/// `TOKEN_EXPIRED`, is the same address: people are shown that spelling.
pub fn explain<'a>(
    mut all: impl Iterator<Item = &'a Explained>,
    code: &str,
    page: Page,
    headers: &HeaderMap,
) -> Result<Response, Problem> {
    let for_people = opened_by_a_person(headers);
    let asked = code.replace('-', "_");
    let Some(explained) = all.find(|it| it.kind.code.eq_ignore_ascii_case(&asked)) else {
        let problem = Problem::new(&NOT_FOUND, "No problem has this code.");
        if for_people {
            return Ok(varies_by_reader(page.of_missing(&problem)));
        }
        return Err(problem);
    };
    let answer = if for_people {
        written(explained, page)
    } else {
        data(explained)
    };
    Ok(varies_by_reader(answer))
}

fn written(explained: &Explained, page: Page) -> Response {
    let kind = explained.kind;
    let words = explained.words(page.language());
    let Words {
        title,
        when,
        what_to_do,
    } = words.unwrap_or_else(|| explained.english());
    let (code, status) = (kind.code, kind.status.as_u16());
    let content = context! { code, status, title, when, what_to_do };
    page.render("problem.html", &kind.type_path(), content)
}

fn data(explained: &Explained) -> Response {
    let kind = explained.kind;
    Json(json!({
        "code": kind.code,
        "status": kind.status.as_u16(),
        "title": kind.title,
        "when": explained.when,
        "whatToDo": explained.what_to_do,
    }))
    .into_response()
}
