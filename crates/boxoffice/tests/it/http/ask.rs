//! Requests in process, and what is answered.

use std::net::SocketAddr;

use axum::{Router, body::Body, extract::ConnectInfo, response::Response};
use http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::BodyExt;
use ropeline_web::{Problem, RequestId};
use serde_json::Value;
use tower::ServiceExt;

use super::house::Person;

/// A request in the making; awaited, it is sent.
pub(crate) struct Ask {
    router: Router,
    request: http::request::Builder,
    /// Where it comes from, as the server tells handlers.
    peer: SocketAddr,
    body: Option<String>,
}

impl Ask {
    pub(crate) fn of(router: Router, method: Method, path: String) -> Self {
        Self {
            router,
            request: Request::builder().method(method).uri(path),
            peer: SocketAddr::from(([127, 0, 0, 1], 40_000)),
            body: None,
        }
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.request = self.request.header(name, value);
        self
    }

    /// From another machine than this one, by its address.
    pub(crate) fn from(mut self, address: &str) -> Self {
        self.peer.set_ip(address.parse().unwrap());
        self
    }

    pub(crate) fn login(self, person: &Person) -> Self {
        self.bearer(&person.login)
    }

    pub(crate) fn bearer(self, text: &str) -> Self {
        self.header("Authorization", &format!("Bearer {text}"))
    }

    pub(crate) fn token(self, token: &str) -> Self {
        self.header("X-Queue-Token", token)
    }

    pub(crate) fn key(self, key: &str) -> Self {
        self.header("Idempotency-Key", key)
    }

    pub(crate) fn json(self, body: &Value) -> Self {
        self.text(&body.to_string())
    }

    /// What a form of a page sends.
    pub(crate) fn form(mut self, fields: &str) -> Self {
        self.body = Some(fields.to_owned());
        self.header("Content-Type", "application/x-www-form-urlencoded")
    }

    /// A body that no JSON value can hold.
    pub(crate) fn text(mut self, body: &str) -> Self {
        self.body = Some(body.to_owned());
        self.header("Content-Type", "application/json")
    }

    async fn send(self) -> Answer {
        let body = self.body.map_or_else(Body::empty, Body::from);
        let request = self.request.extension(ConnectInfo(self.peer));
        let request = request.body(body).unwrap();
        Answer::read(self.router.oneshot(request).await.unwrap()).await
    }
}

impl IntoFuture for Ask {
    type Output = Answer;
    type IntoFuture = std::pin::Pin<Box<dyn Future<Output = Answer> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.send())
    }
}

/// What was answered.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Value,
    /// The body as it came.
    pub(crate) text: String,
}

impl Answer {
    /// A problem has no body, and none of its headers, before the outermost service has written it.
    async fn read(response: Response) -> Self {
        let (mut parts, body) = response.into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        let body = match parts.extensions.get::<Problem>() {
            Some(problem) => {
                let id = RequestId::of(&Request::new(()).into_parts().0);
                let written: http::Response<String> = problem.clone().answer(&id);
                parts.headers.extend(written.into_parts().0.headers);
                problem.document("test")
            }
            None => serde_json::from_slice(&bytes).unwrap_or_default(),
        };
        Self {
            status: parts.status,
            headers: parts.headers,
            body,
            text: String::from_utf8_lossy(&bytes).into_owned(),
        }
    }

    pub(crate) fn code(&self) -> String {
        self.body["code"].as_str().unwrap_or_default().to_owned()
    }

    /// Status and code of a problem.
    pub(crate) fn problem(&self) -> (u16, String) {
        (self.status.as_u16(), self.code())
    }
}

/// As [`Answer::problem`] says it.
pub(crate) fn problem(status: u16, code: &str) -> (u16, String) {
    (status, code.to_owned())
}
