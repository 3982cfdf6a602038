//! What the address of a request says.

use axum::extract::{
    FromRequestParts, Path as AxumPath,
    path::{ErrorKind, FailedToDeserializePathParams},
    rejection::PathRejection,
};
use http::{StatusCode, Uri, request::Parts};
use serde::de::DeserializeOwned;

use super::{cut, locate};
use crate::Problem;

/// The query string. As with [`Json`](super::Json), `T` has to deny unknown fields itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct Query<T>(pub T);

impl<T: DeserializeOwned, S: Sync> FromRequestParts<S> for Query<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        Self::of(&parts.uri)
    }
}

impl<T: DeserializeOwned> Query<T> {
    /// The query of an address.
    pub fn of(uri: &Uri) -> Result<Self, Problem> {
        let query = uri.query().unwrap_or_default();
        // To know where something is wrong costs more than all the rest, so it is found only once something is.
        match T::deserialize(fields(query)) {
            Ok(value) => Ok(Self(value)),
            Err(_) => deserialize_tracked(query).map(Self),
        }
    }
}

fn deserialize_tracked<T: DeserializeOwned>(query: &str) -> Result<T, Problem> {
    serde_path_to_error::deserialize(fields(query)).map_err(|error| {
        let (field, message) = locate(error.path(), &error.inner().to_string());
        wrong("query parameter", &field, &message)
    })
}

fn fields(query: &str) -> serde_urlencoded::Deserializer<'_> {
    serde_urlencoded::Deserializer::new(form_urlencoded::parse(query.as_bytes()))
}

/// The parameters in the path of a route.
#[derive(Clone, Copy, Debug, Default)]
pub struct Path<T>(pub T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Path<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        match AxumPath::from_request_parts(parts, state).await {
            Ok(AxumPath(value)) => Ok(Self(value)),
            Err(PathRejection::FailedToDeserializePathParams(error)) => Err(refused(&error)),
            Err(error) => {
                tracing::error!(%error, "a handler asks for parameters that its route has not");
                Err(Problem::internal())
            }
        }
    }
}

fn refused(error: &FailedToDeserializePathParams) -> Problem {
    let (field, message) = match error.kind() {
        ErrorKind::ParseErrorAtKey {
            key, expected_type, ..
        } => (
            key.clone(),
            format!("not a value of type `{expected_type}`"),
        ),
        ErrorKind::ParseErrorAtIndex {
            index,
            expected_type,
            ..
        } => (
            index.to_string(),
            format!("not a value of type `{expected_type}`"),
        ),
        ErrorKind::ParseError { expected_type, .. } => (
            ".".to_owned(),
            format!("not a value of type `{expected_type}`"),
        ),
        ErrorKind::InvalidUtf8InPathParam { key } => (key.clone(), "not UTF-8".to_owned()),
        ErrorKind::DeserializeError { key, message, .. } => (key.clone(), message.clone()),
        other => (".".to_owned(), other.to_string()),
    };
    wrong("path parameter", &field, &message)
}

fn wrong(what: &str, field: &str, message: &str) -> Problem {
    let (field, message) = (cut(field), cut(message));
    Problem::invalid(
        StatusCode::BAD_REQUEST,
        format!("The {what} `{field}` is not right: {message}."),
    )
    .error(field, message)
}
