//! The answers for addresses where there is nothing: pages for browsers, problems for programs.

use axum::response::{IntoResponse, Response};
use http::{
    HeaderMap, HeaderName, HeaderValue, StatusCode, Uri,
    header::{ACCEPT, VARY},
};
use minijinja::context;

use super::Page;
use crate::{METHOD_NOT_ALLOWED, NOT_FOUND, Problem};

const SEC_FETCH_MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");
/// What every answer that [`opened_by_a_person`] decides has to say to caches.
const VARY_BY: HeaderValue = HeaderValue::from_static("Accept, Sec-Fetch-Mode");
/// Below this path there are only programs' addresses, whoever opens them.
const API: &str = "/api/";

/// Whether a browser has opened an address for somebody to read, and not for a script of a page.
///
/// Browsers say so in `Sec-Fetch-Mode`. Old ones, and all over plain http, do not send it; their `Accept` names HTML,
/// which the `*/*` of programs does not.
pub fn opened_by_a_person(headers: &HeaderMap) -> bool {
    if let Some(mode) = headers.get(SEC_FETCH_MODE) {
        return mode == "navigate";
    }
    let mut accepted = headers.get_all(ACCEPT).iter();
    accepted.any(|line| line.to_str().is_ok_and(|line| line.contains("text/html")))
}

/// Says that an answer depends on who asks, as [`opened_by_a_person`] tells.
pub fn varies_by_reader(mut response: Response) -> Response {
    response.headers_mut().append(VARY, VARY_BY);
    response
}

/// The fallback of a router whose service has pages.
pub async fn not_found(page: Page, uri: Uri, headers: HeaderMap) -> Response {
    let problem = Problem::new(&NOT_FOUND, "There is nothing at this address.");
    missing(page, &uri, &headers, problem)
}

/// The same for an address that takes other methods.
pub async fn method_not_allowed(page: Page, uri: Uri, headers: HeaderMap) -> Response {
    let detail = "This address does not take this method; see the `Allow` header.";
    missing(
        page,
        &uri,
        &headers,
        Problem::new(&METHOD_NOT_ALLOWED, detail),
    )
}

/// The answer of a handler, with a page instead of a problem if the address names nothing.
pub fn or_not_found(
    answer: Result<Response, Problem>,
    page: Page,
    uri: &Uri,
    headers: &HeaderMap,
) -> Response {
    match answer {
        Ok(answer) => answer,
        Err(problem) if problem.status_code() == StatusCode::NOT_FOUND => {
            missing(page, uri, headers, problem)
        }
        Err(problem) => problem.into_response(),
    }
}

fn missing(page: Page, uri: &Uri, headers: &HeaderMap, problem: Problem) -> Response {
    let for_people = !uri.path().starts_with(API) && opened_by_a_person(headers);
    varies_by_reader(if for_people {
        page.of_missing(&problem)
    } else {
        problem.into_response()
    })
}

impl Page {
    /// What people read instead of a problem that says that there is nothing.
    pub(crate) fn of_missing(self, problem: &Problem) -> Response {
        let (texts, code) = (self.texts(), problem.kind().code);
        let note = format!("{code}_note");
        let content = context! {
            title => texts.get("missing", code),
            note => texts.get("missing", &note),
        };
        // The language switch names no path and so keeps it: a path like `//host` would lead to another site.
        self.render_failure(problem.status_code(), "missing.html", "", content)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opened(headers: &[(&'static str, &'static str)]) -> bool {
        let pairs = headers.iter().map(|(name, value)| {
            let name = HeaderName::from_static(name);
            (name, HeaderValue::from_static(value))
        });
        opened_by_a_person(&pairs.collect())
    }

    #[test]
    fn a_browser_is_known_by_what_it_says_of_the_request() {
        let chromium = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
        assert!(opened(&[
            ("sec-fetch-mode", "navigate"),
            ("accept", chromium)
        ]));
        assert!(opened(&[("sec-fetch-mode", "navigate")]));
        assert!(opened(&[("accept", chromium)]), "over plain http");
        for headers in [
            &[("accept", "*/*")][..],
            &[("accept", "application/json")],
            &[],
            &[("sec-fetch-mode", "cors"), ("accept", "text/html")],
            &[("sec-fetch-mode", "same-origin"), ("accept", "*/*")],
        ] {
            assert!(!opened(headers), "{headers:?}");
        }
    }
}
