//! What each code means, at the address that its problems name as `type`.

mod explained;

use axum::response::{Html, IntoResponse, Response};
use http::{
    HeaderMap,
    header::{ACCEPT, VARY},
};
use ropeline_web::{Json, NOT_FOUND, Path, Problem};
use serde::Serialize;

pub use self::explained::{EXPLAINED, Explained};

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

/// `/problems/token-expired`, for people or programs.
pub(crate) async fn problem(
    Path(code): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let path = format!("/problems/{code}");
    let explained = EXPLAINED.iter().find(|it| it.kind.type_path() == path);
    let Some(explained) = explained else {
        return Err(Problem::new(&NOT_FOUND, "No problem has this code."));
    };
    let vary = [(VARY, ACCEPT.as_str())];
    Ok(if takes_html(&headers) {
        (vary, Html(page(explained))).into_response()
    } else {
        (vary, Json(view(explained))).into_response()
    })
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

/// The texts are ours, and a test sees to it that none has a character that HTML takes for its own.
fn page(explained: &Explained) -> String {
    let View {
        code,
        status,
        title,
        when,
        what_to_do,
    } = view(explained);
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>{title} · Ropeline</title>\n\
         <main>\n<h1>{title}</h1>\n<dl>\n<dt>Code</dt>\n<dd><code>{code}</code>, status {status}</dd>\n\
         <dt>When it happens</dt>\n<dd>{when}</dd>\n<dt>What to do</dt>\n<dd>{what_to_do}</dd>\n\
         </dl>\n</main>\n</html>\n"
    )
}
