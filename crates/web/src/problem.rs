//! RFC 9457 problems, the only shape in which a failure leaves a service.

use std::time::Duration;

use axum::response::{IntoResponse, Response};
use http::{
    HeaderValue, StatusCode,
    header::{CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE},
};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::{LOGIN_INVALID, LOGIN_REQUIRED, RequestId, UNAUTHORIZED, service::common_headers};

/// The request is not one that this service understands.
pub const INVALID_REQUEST: Kind = Kind {
    code: "INVALID_REQUEST",
    status: StatusCode::BAD_REQUEST,
    title: "Invalid request",
};

/// No such resource.
pub const NOT_FOUND: Kind = Kind {
    code: "NOT_FOUND",
    status: StatusCode::NOT_FOUND,
    title: "Not found",
};

/// The resource exists and does not take this method.
pub const METHOD_NOT_ALLOWED: Kind = Kind {
    code: "METHOD_NOT_ALLOWED",
    status: StatusCode::METHOD_NOT_ALLOWED,
    title: "Method not allowed",
};

/// A page of another site made the visitor's browser send this.
pub const CROSS_SITE: Kind = Kind {
    code: "CROSS_SITE",
    status: StatusCode::FORBIDDEN,
    title: "Sent by a page of another site",
};

/// The request names a host for which the server does not answer.
pub const MISDIRECTED_REQUEST: Kind = Kind {
    code: "MISDIRECTED_REQUEST",
    status: StatusCode::MISDIRECTED_REQUEST,
    title: "Not a host of this server",
};

/// The service failed; the cause is in its log under the request id, never in the answer.
pub const INTERNAL: Kind = Kind {
    code: "INTERNAL",
    status: StatusCode::INTERNAL_SERVER_ERROR,
    title: "Internal error",
};

/// Every kind that each service answers with, beside its own.
pub const CATALOGUE: [&Kind; 6] = [
    &INVALID_REQUEST,
    &NOT_FOUND,
    &METHOD_NOT_ALLOWED,
    &CROSS_SITE,
    &MISDIRECTED_REQUEST,
    &INTERNAL,
];

/// Kinds that a bearer's key or login would mend, which is said in `WWW-Authenticate`.
const CHALLENGES: [&Kind; 3] = [&UNAUTHORIZED, &LOGIN_REQUIRED, &LOGIN_INVALID];

/// A kind of problem, defined once as a constant by the service that answers with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// What a client matches on, in `SCREAMING_SNAKE_CASE`; the `type` is derived from it.
    pub code: &'static str,
    /// The status of this kind, unless [`Problem::status`] says otherwise.
    pub status: StatusCode,
    /// The same sentence for every occurrence.
    pub title: &'static str,
}

impl Kind {
    /// The `type` member: `TOKEN_EXPIRED` is `/problems/token-expired`.
    pub fn type_path(&self) -> String {
        let code = self.code.chars().map(|c| {
            if c == '_' {
                '-'
            } else {
                c.to_ascii_lowercase()
            }
        });
        "/problems/".chars().chain(code).collect()
    }
}

/// What is wrong with one field of a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FieldError {
    /// Where the field is, as `seats[2].row`; `.` is the whole body.
    pub field: String,
    /// What would be right.
    pub message: String,
}

/// One occurrence of a [`Kind`].
///
/// As a response it has no body yet: only the outermost service knows the request id, and writes it. A layer that cannot
/// rely on one answers with [`Problem::answer`].
#[derive(Clone, Debug)]
pub struct Problem {
    inner: Box<Inner>,
}

#[derive(Clone, Debug)]
struct Inner {
    kind: &'static Kind,
    status: StatusCode,
    detail: String,
    errors: Vec<FieldError>,
    retry_after: Option<Duration>,
    extra: Map<String, Value>,
    closing: bool,
}

impl Problem {
    /// An occurrence of `kind`; `detail` is a sentence for a person, and leaves the process.
    pub fn new(kind: &'static Kind, detail: impl Into<String>) -> Self {
        Self {
            inner: Box::new(Inner {
                kind,
                status: kind.status,
                detail: detail.into(),
                errors: Vec::new(),
                retry_after: None,
                extra: Map::new(),
                closing: false,
            }),
        }
    }

    /// A failure of ours, of which the client learns nothing.
    pub fn internal() -> Self {
        Self::new(&INTERNAL, "The service could not answer this request.")
    }

    /// The client's request is wrong in a way that `status` tells more exactly than 400.
    pub fn invalid(status: StatusCode, detail: impl Into<String>) -> Self {
        Self::new(&INVALID_REQUEST, detail).status(status)
    }

    /// Another status than that of the kind.
    #[must_use]
    pub fn status(mut self, status: StatusCode) -> Self {
        self.inner.status = status;
        self
    }

    /// One more field that is wrong.
    #[must_use]
    pub fn error(mut self, field: impl Into<String>, message: impl Into<String>) -> Self {
        self.inner.errors.push(FieldError {
            field: field.into(),
            message: message.into(),
        });
        self
    }

    /// When to try again, sent in whole seconds, rounded up, at least one.
    #[must_use]
    pub fn retry_after(mut self, wait: Duration) -> Self {
        self.inner.retry_after = Some(wait);
        self
    }

    /// An extension member. The members that every problem has cannot be replaced by one.
    #[must_use]
    pub fn with(mut self, member: &str, value: impl Into<Value>) -> Self {
        self.inner.extra.insert(member.to_owned(), value.into());
        self
    }

    /// The connection is of no use after this answer.
    #[must_use]
    pub(crate) fn closing(mut self) -> Self {
        self.inner.closing = true;
        self
    }

    /// The kind of this problem.
    pub fn kind(&self) -> &'static Kind {
        self.inner.kind
    }

    /// The status that will be answered.
    pub fn status_code(&self) -> StatusCode {
        self.inner.status
    }

    /// The document as it is sent to the client that made the request with this id.
    pub fn document(&self, request_id: &str) -> Value {
        let Inner {
            kind,
            status,
            detail,
            errors,
            extra,
            ..
        } = &*self.inner;
        let mut members = extra.clone();
        members.insert("type".to_owned(), kind.type_path().into());
        members.insert("title".to_owned(), kind.title.into());
        members.insert("status".to_owned(), status.as_u16().into());
        members.insert("code".to_owned(), kind.code.into());
        members.insert("detail".to_owned(), detail.as_str().into());
        members.insert("requestId".to_owned(), request_id.into());
        members.insert(
            "errors".to_owned(),
            errors.iter().map(field_error).collect(),
        );
        Value::Object(members)
    }

    /// The whole answer, for a layer that may stand in a service without a [`Server`](crate::Server) around it. Where
    /// there is one, it finds nothing to add: [`RequestId::of`] gave the id that it chose.
    pub fn answer<B: From<String>>(self, request_id: &RequestId) -> http::Response<B> {
        let mut response = http::Response::new(B::from(String::new()));
        self.write_to(&mut response, request_id);
        common_headers(response.headers_mut(), request_id);
        response.extensions_mut().insert(self);
        response
    }

    /// Makes `response` say this problem, keeping headers that a handler has set.
    pub(crate) fn write_to<B: From<String>>(
        &self,
        response: &mut http::Response<B>,
        request_id: &RequestId,
    ) {
        let document = self.document(request_id.as_str()).to_string();
        *response.status_mut() = self.inner.status;
        let headers = response.headers_mut();
        headers.insert(
            CONTENT_TYPE,
            HeaderValue::from_static("application/problem+json"),
        );
        headers.insert(CONTENT_LENGTH, document.len().into());
        if let Some(wait) = self.inner.retry_after {
            headers.insert(RETRY_AFTER, whole_seconds(wait).into());
        }
        if CHALLENGES.contains(&self.inner.kind) {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if self.inner.closing {
            headers.insert(CONNECTION, HeaderValue::from_static("close"));
        }
        *response.body_mut() = B::from(document);
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = self.inner.status.into_response();
        response.extensions_mut().insert(self);
        response
    }
}

fn field_error(error: &FieldError) -> Value {
    let mut members = Map::new();
    members.insert("field".to_owned(), error.field.as_str().into());
    members.insert("message".to_owned(), error.message.as_str().into());
    Value::Object(members)
}

fn whole_seconds(wait: Duration) -> u64 {
    let rounded_up = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
    rounded_up.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_type_is_the_code_in_kebab_case() {
        let kind = Kind {
            code: "TOKEN_EXPIRED",
            ..NOT_FOUND
        };
        assert_eq!(kind.type_path(), "/problems/token-expired");
    }

    #[test]
    fn waiting_times_are_rounded_up_to_a_whole_second() {
        assert_eq!(whole_seconds(Duration::ZERO), 1);
        assert_eq!(whole_seconds(Duration::from_millis(1_001)), 2);
        assert_eq!(whole_seconds(Duration::from_secs(7)), 7);
    }

    #[test]
    fn an_extension_member_cannot_hide_the_status() {
        let problem = Problem::new(&NOT_FOUND, "Gone.")
            .with("status", 200)
            .with("position", 4);
        let document = problem.document("r");
        assert_eq!(document["status"], 404);
        assert_eq!(document["position"], 4);
    }
}
