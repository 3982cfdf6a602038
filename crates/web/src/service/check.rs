//! What is wrong with a request before its route matters.
//!
//! The size and the line ends of a head are judged earlier, on the bytes as they arrive.

use http::{
    HeaderMap, Request, StatusCode, Version,
    header::{CONTENT_ENCODING, HOST},
};
use http_body::Body;

use super::BodyError;
use crate::{Limits, Problem};

pub(super) fn head<B: Body>(request: &Request<B>, limits: &Limits) -> Result<(), Problem> {
    host(request)?;
    // A gate asks about a request with its headers but without its body.
    if !request.body().is_end_stream() {
        content_encoding(request.headers())?;
    }
    if request.body().size_hint().lower() > limits.body_bytes_max as u64 {
        return Err(BodyError::TooLarge {
            bytes_max: limits.body_bytes_max,
        }
        .to_problem());
    }
    Ok(())
}

/// Two parties that disagree on the host of a request can be played against each other.
fn host<B>(request: &Request<B>) -> Result<(), Problem> {
    let mut hosts = request.headers().get_all(HOST).iter();
    let host = hosts.next();
    if hosts.next().is_some() {
        return Err(bad("The request names its host twice."));
    }
    match (host, request.uri().authority()) {
        (None, _) if request.version() == Version::HTTP_11 => {
            Err(bad("The request has no `Host` header."))
        }
        (Some(host), Some(authority))
            if !host
                .as_bytes()
                .eq_ignore_ascii_case(authority.as_str().as_bytes()) =>
        {
            Err(bad(
                "The request's address and its `Host` header name different hosts.",
            ))
        }
        _ => Ok(()),
    }
}

/// Nothing is ever decompressed, so nothing can unfold to more than was sent.
fn content_encoding(headers: &HeaderMap) -> Result<(), Problem> {
    match headers.get(CONTENT_ENCODING) {
        Some(coding) if !coding.as_bytes().eq_ignore_ascii_case(b"identity") => {
            let detail = "Bodies are taken as they are; send this one without `Content-Encoding`.";
            Err(Problem::invalid(StatusCode::UNSUPPORTED_MEDIA_TYPE, detail).closing())
        }
        _ => Ok(()),
    }
}

fn bad(detail: &str) -> Problem {
    Problem::invalid(StatusCode::BAD_REQUEST, detail).closing()
}
