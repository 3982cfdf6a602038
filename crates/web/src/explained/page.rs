//! What each code means, at the address that its problems name as `type`.

use axum::response::{IntoResponse, Response};
use http::{
    HeaderMap,
    header::{ACCEPT, VARY},
};
use minijinja::{Value, context, value::Serde};
use serde::Serialize;

use super::Explained;
use crate::{Json, NOT_FOUND, Problem, pages::Page};

/// The same for programs.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct View {
    code: &'static str,
    status: u16,
    title: &'static str,
    when: &'static str,
    what_to_do: &'static str,
}

/// Answers `/problems/token-expired`, for people or programs, from what a service explains.
pub fn explain<'a>(
    mut all: impl Iterator<Item = &'a Explained>,
    code: &str,
    page: Page,
    headers: &HeaderMap,
) -> Result<Response, Problem> {
    let path = format!("/problems/{code}");
    let explained = all.find(|it| it.kind.type_path() == path);
    let Some(explained) = explained else {
        return Err(Problem::new(&NOT_FOUND, "No problem has this code."));
    };
    let mut response = if takes_html(headers) {
        let problem = Value::from(Serde(&view(explained)));
        page.render("problem.html", &path, context! { problem })
    } else {
        Json(view(explained)).into_response()
    };
    response.headers_mut().append(VARY, ACCEPT.into());
    Ok(response)
}

/// Browsers name HTML; programs that take anything get JSON.
fn takes_html(headers: &HeaderMap) -> bool {
    let mut accepted = headers.get_all(ACCEPT).iter();
    accepted.any(|line| line.to_str().is_ok_and(|line| line.contains("text/html")))
}

fn view(explained: &Explained) -> View {
    let Explained {
        kind,
        when,
        what_to_do,
    } = explained;
    View {
        code: kind.code,
        status: kind.status.as_u16(),
        title: kind.title,
        when,
        what_to_do,
    }
}
