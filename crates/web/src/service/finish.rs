//! What every answer has in common, whoever made it.

use axum::response::Response;
use http::{
    HeaderMap, HeaderName, HeaderValue, StatusCode,
    header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS},
};

use crate::{
    INTERNAL, INVALID_REQUEST, METHOD_NOT_ALLOWED, NOT_FOUND, Problem, RequestId,
    request_id::X_REQUEST_ID,
};

/// What data needs; a page, which can be framed and has links, sets more.
const SECURITY: [(HeaderName, HeaderValue); 3] = [
    (X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (CACHE_CONTROL, HeaderValue::from_static("no-store")),
    (
        CONTENT_SECURITY_POLICY,
        HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'"),
    ),
];

/// Put into the extensions of a response whose plain error is meant as it is.
///
/// Without it an error without a body, or with a plain text, is taken for one of the framework.
#[derive(Clone, Copy, Debug)]
pub struct Verbatim;

pub(crate) fn finish(mut response: Response, id: &RequestId) -> Response {
    if let Some(problem) = problem_of(&mut response) {
        problem.write_to(&mut response, id);
    }
    common_headers(response.headers_mut(), id);
    response
}

/// The headers that every answer has, unless a handler has set them otherwise.
pub(crate) fn common_headers(headers: &mut HeaderMap, id: &RequestId) {
    headers.reserve(SECURITY.len() + 1);
    headers.insert(X_REQUEST_ID, id.to_header());
    for (name, value) in SECURITY {
        headers.entry(name).or_insert(value);
    }
}

fn problem_of(response: &mut Response) -> Option<Problem> {
    if let Some(problem) = response.extensions_mut().remove() {
        return Some(problem);
    }
    let status = response.status();
    let failed = status.is_client_error() || status.is_server_error();
    (failed && is_bare(response)).then(|| bare(status))
}

fn is_bare(response: &Response) -> bool {
    if response.extensions().get::<Verbatim>().is_some() {
        return false;
    }
    let content_type = response.headers().get(CONTENT_TYPE);
    content_type.is_none_or(|value| value.as_bytes().starts_with(b"text/plain"))
}

/// The framework's own texts are not passed on: they speak of its types, not of our API.
fn bare(status: StatusCode) -> Problem {
    match status {
        StatusCode::NOT_FOUND => Problem::new(&NOT_FOUND, "There is nothing at this address."),
        StatusCode::METHOD_NOT_ALLOWED => Problem::new(
            &METHOD_NOT_ALLOWED,
            "This address does not take this method; see the `Allow` header.",
        ),
        _ if status.is_server_error() => {
            Problem::new(&INTERNAL, "The service could not answer this request.").status(status)
        }
        _ => Problem::new(&INVALID_REQUEST, "The request cannot be understood.").status(status),
    }
}
