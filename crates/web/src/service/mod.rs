//! The outermost service: what happens to every request around the router.

mod answering;
mod body;
mod check;
mod cross_site;
mod finish;
mod hosts;
mod path;
mod unread;

use std::{fmt, net::SocketAddr, pin::Pin, sync::Arc, time::Duration};

use axum::{
    Router,
    extract::{self, ConnectInfo},
    response::{IntoResponse, Response},
};
use http::{HeaderMap, Method, Request, StatusCode, Uri};
use hyper::body::Incoming;
use tokio::time::Instant;
use tower::Service as _;

pub(crate) use self::{
    answering::Answering,
    body::{BodyError, RequestBody},
    finish::{common_headers, finish},
    unread::{Discarding, Unread},
};
pub use self::{
    cross_site::{NotCrossSite, is_from_another_site, is_get_from_another_site},
    finish::Verbatim,
    hosts::Hosts,
};
use crate::{Limits, Problem, RequestId, request_id::X_REQUEST_ID};

/// Told of every answer, for metrics. Called on the request's path, so it has to be cheap.
pub trait Observe: Send + Sync + 'static {
    /// `took` is the time from the parsed head to the answer's head; refused heads took none.
    fn answered(&self, status: StatusCode, took: Duration);
}

/// Answers what is asked most without the router, whose way to a handler and back takes longer than some answers do.
/// The limits and headers of all other answers are those of these too.
pub trait Shortcut: Send + Sync + 'static {
    /// Whether it answers such a request; any other is left to the router.
    fn takes(&self, method: &Method, uri: &Uri, headers: &HeaderMap) -> bool;

    /// The answer to a request that it takes, which `peer` has sent, as the router would give it.
    fn answer(&self, request: extract::Request, peer: SocketAddr) -> Shortly;
}

/// What a [`Shortcut`] answers.
#[expect(missing_debug_implementations, reason = "a future cannot be shown")]
pub enum Shortly {
    /// The answer is there.
    Now(Response),
    /// It has to be waited for.
    Later(Pin<Box<dyn Future<Output = Response> + Send>>),
}

/// A router with what surrounds it. One per listener.
pub(crate) struct Service {
    pub(crate) limits: Limits,
    router: Router,
    shortcut: Option<Box<dyn Shortcut>>,
    origins: Vec<String>,
    hosts: Hosts,
    slashes_after: Option<&'static str>,
    observer: Option<Box<dyn Observe>>,
}

impl Service {
    pub(crate) fn new(
        router: Router,
        shortcut: Option<Box<dyn Shortcut>>,
        limits: Limits,
        origins: Vec<String>,
        hosts: Hosts,
        slashes_after: Option<&'static str>,
        observer: Option<Box<dyn Observe>>,
    ) -> Self {
        Self {
            limits,
            router,
            shortcut,
            origins,
            hosts,
            slashes_after,
            observer,
        }
    }

    /// Begins to answer one request; [`Service::finish`] has to be told of what comes out.
    ///
    /// What the handler does not read of the body is in `unread` once the answer is ready.
    pub(crate) fn begin(
        &self,
        request: Request<Incoming>,
        peer: SocketAddr,
        unread: &Arc<Unread>,
    ) -> Answering {
        let started = self.observer.as_ref().map(|_| Instant::now());
        let id = RequestId::choose(request.headers().get(X_REQUEST_ID));
        let (parts, body) = request.into_parts();
        let body = RequestBody::wrap(body, &parts.headers, &self.limits, unread);
        let mut request = Request::from_parts(parts, body);
        let checked = check::head(&request, &self.limits)
            .and_then(|()| self.hosts.check(&request))
            .and_then(|()| path::check(request.uri().path(), self.slashes_after))
            .and_then(|()| cross_site::check(&request, &self.origins));
        if let Err(problem) = checked {
            return Answering::at_once(problem.into_response(), id, started);
        }
        if let Some(shortcut) = self.shortcut(&request) {
            let answer = || shortcut.answer(request, peer);
            return match answering::guard(&id, answer, Shortly::Now) {
                Shortly::Now(answer) => Answering::at_once(answer, id, started),
                Shortly::Later(answer) => Answering::later(answer, id, started),
            };
        }
        request.extensions_mut().insert(id.clone());
        request.extensions_mut().insert(ConnectInfo(peer));
        Answering::routed(self.router.clone().call(request), id, started)
    }

    fn shortcut(&self, request: &extract::Request) -> Option<&dyn Shortcut> {
        let (method, uri, headers) = (request.method(), request.uri(), request.headers());
        let shortcut = self.shortcut.as_deref()?;
        shortcut.takes(method, uri, headers).then_some(shortcut)
    }

    pub(crate) fn finish(
        &self,
        response: Response,
        id: &RequestId,
        started: Option<Instant>,
    ) -> Response {
        let response = finish(response, id);
        if let Some(observer) = &self.observer {
            let took = started.map_or(Duration::ZERO, |started| started.elapsed());
            observer.answered(response.status(), took);
        }
        response
    }

    /// The answer to bytes that never became a request.
    pub(crate) fn refuse(&self, problem: Problem) -> Response {
        self.finish(problem.into_response(), &RequestId::choose(None), None)
    }
}

impl fmt::Debug for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Service")
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}
