//! JSON bodies in and out.

use std::error::Error;

use axum::{
    body::{Body, Bytes},
    extract::{FromRequest, Request},
    response::{IntoResponse, Response},
};
use http::{HeaderMap, HeaderValue, StatusCode, header::CONTENT_TYPE};
use http_body::Body as _;
use http_body_util::BodyExt;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::error::Category;

use super::{cut, locate, object};
use crate::{Problem, service::BodyError};

/// Room for a usual answer, so that it is written without growing.
const USUAL_BYTES: usize = 1_024;

/// A JSON body, as argument of a handler and as its answer.
///
/// An empty body is `{}`. Derive `T` with `#[serde(deny_unknown_fields)]`: that is what makes an
/// unknown or repeated field an error, and nothing outside of `T` can ask for it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Json<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Json<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self, Problem> {
        JsonBody::of(request).read().await
    }
}

/// A body that should be JSON, apart from its request: a handler that waits for it need not keep the rest.
#[derive(Debug)]
pub struct JsonBody {
    body: Body,
    is_json: bool,
}

impl JsonBody {
    /// The body of a request, with what its headers say of it.
    pub fn of(request: Request) -> Self {
        let is_json = is_json(request.headers());
        let body = request.into_body();
        Self { body, is_json }
    }

    /// Reads it to its end.
    pub async fn read<T: DeserializeOwned>(self) -> Result<Json<T>, Problem> {
        let body = read_body(self.body).await?;
        if body.is_empty() {
            return parse("{}").map(Json);
        }
        if !self.is_json {
            return Err(Problem::invalid(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "The body has to be JSON, sent with `Content-Type: application/json`.",
            ));
        }
        match str::from_utf8(&body) {
            Ok(text) => parse(text).map(Json),
            Err(error) => Err(not_utf8(&body[..error.valid_up_to()])),
        }
    }
}

impl<T: Serialize> IntoResponse for Json<T> {
    fn into_response(self) -> Response {
        let mut document = Vec::with_capacity(USUAL_BYTES);
        if let Err(error) = serde_json::to_writer(&mut document, &self.0) {
            tracing::error!(%error, "an answer cannot be written as JSON");
            return Problem::internal().into_response();
        }
        JsonText(document).into_response()
    }
}

/// JSON that is written already, as an answer.
#[derive(Clone, Debug)]
pub struct JsonText(pub Vec<u8>);

impl IntoResponse for JsonText {
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::from(self.0));
        let json = HeaderValue::from_static("application/json");
        response.headers_mut().insert(CONTENT_TYPE, json);
        response
    }
}

/// Reads a body to its end, within the limits of its listener. Most bodies are one piece, which is taken as it is.
pub async fn read_body(mut body: Body) -> Result<Bytes, Problem> {
    let Some(frame) = body.frame().await else {
        return Ok(Bytes::new());
    };
    let frame = frame.map_err(|error| unreadable(&error))?;
    let piece = frame.into_data().unwrap_or_default();
    if body.is_end_stream() {
        return Ok(piece);
    }
    match body.collect().await {
        Ok(rest) => Ok([piece, rest.to_bytes()].concat().into()),
        Err(error) => Err(unreadable(&error)),
    }
}

/// The limits are those of the listener, which reports them as a [`BodyError`] in the chain.
fn unreadable(error: &axum::Error) -> Problem {
    let mut cause: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if let Some(limit) = error.downcast_ref::<BodyError>() {
            return limit.to_problem();
        }
        cause = error.source();
    }
    Problem::invalid(
        StatusCode::BAD_REQUEST,
        "The body ended early or is badly framed.",
    )
    .closing()
}

fn is_json(headers: &HeaderMap) -> bool {
    headers.get(CONTENT_TYPE).is_some_and(|value| {
        let media_type = value.as_bytes().split(|byte| *byte == b';').next();
        let media_type = media_type.unwrap_or_default().trim_ascii();
        media_type.eq_ignore_ascii_case(b"application/json")
    })
}

/// To know the path of what is wrong costs more than all the rest, so it is found only once something is.
fn parse<T: DeserializeOwned>(text: &str) -> Result<T, Problem> {
    let mut json = serde_json::Deserializer::from_str(text);
    match object(&mut json) {
        Ok(value) if json.end().is_ok() => Ok(value),
        _ => parse_tracked(text),
    }
}

fn parse_tracked<T: DeserializeOwned>(text: &str) -> Result<T, Problem> {
    let mut json = serde_json::Deserializer::from_str(text);
    let mut track = serde_path_to_error::Track::new();
    let value = object(serde_path_to_error::Deserializer::new(
        &mut json, &mut track,
    ))
    .map_err(|error| refused(&track.path(), &error))?;
    json.end().map_err(|error| malformed(&error))?;
    Ok(value)
}

fn refused(path: &serde_path_to_error::Path, error: &serde_json::Error) -> Problem {
    if error.classify() != Category::Data {
        return malformed(error);
    }
    let text = without_position(error);
    // Two values for one name: nobody can say which one the client meant.
    if text.starts_with("duplicate field") {
        return malformed(error);
    }
    let (field, message) = locate(path, &text);
    Problem::invalid(
        StatusCode::UNPROCESSABLE_ENTITY,
        format!("`{field}` is not right: {message}."),
    )
    .error(field, message)
}

fn malformed(error: &serde_json::Error) -> Problem {
    let text = cut(&without_position(error));
    not_json(error.line(), error.column(), &text)
}

fn not_utf8(valid: &[u8]) -> Problem {
    let line = memchr::memchr_iter(b'\n', valid).count() + 1;
    let column = valid.len() - memchr::memrchr(b'\n', valid).map_or(0, |at| at + 1) + 1;
    not_json(line, column, "not UTF-8")
}

fn not_json(line: usize, column: usize, text: &str) -> Problem {
    let detail = format!("The body is not valid JSON at line {line}, column {column}: {text}.");
    Problem::invalid(StatusCode::BAD_REQUEST, detail)
}

/// `serde_json` ends its text with the position, which an answer says in its own place.
fn without_position(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let position = format!(" at line {} column {}", error.line(), error.column());
    text.strip_suffix(&position)
        .map(str::to_owned)
        .unwrap_or(text)
}
