//! A request on its way through the router.

use std::{
    any::Any,
    convert::Infallible,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    task::{Context, Poll},
};

use axum::{
    response::{IntoResponse, Response},
    routing::future::RouteFuture,
};
use tokio::time::Instant;

use crate::{Problem, RequestId};

pin_project_lite::pin_project! {
    /// Written by hand because hyper moves it once per request: nested `async` functions would
    /// hold the request several times over.
    pub(crate) struct Answering {
        #[pin]
        answer: Answer,
        pub(crate) id: RequestId,
        pub(crate) started: Option<Instant>,
    }
}

pin_project_lite::pin_project! {
    #[project = AnswerProjection]
    enum Answer {
        Routed { #[pin] route: RouteFuture<Infallible> },
        Later { answer: Pin<Box<dyn Future<Output = Response> + Send>> },
        Now { answer: Option<Response> },
    }
}

impl Answering {
    pub(super) fn routed(
        route: RouteFuture<Infallible>,
        id: RequestId,
        started: Option<Instant>,
    ) -> Self {
        Self::new(Answer::Routed { route }, id, started)
    }

    pub(super) fn later(
        answer: Pin<Box<dyn Future<Output = Response> + Send>>,
        id: RequestId,
        started: Option<Instant>,
    ) -> Self {
        Self::new(Answer::Later { answer }, id, started)
    }

    pub(super) fn at_once(answer: Response, id: RequestId, started: Option<Instant>) -> Self {
        let answer = Some(answer);
        Self::new(Answer::Now { answer }, id, started)
    }

    fn new(answer: Answer, id: RequestId, started: Option<Instant>) -> Self {
        Self {
            answer,
            id,
            started,
        }
    }
}

impl Future for Answering {
    type Output = Response;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Response> {
        let this = self.project();
        match this.answer.project() {
            AnswerProjection::Routed { route } => {
                let poll = || route.poll(cx).map(|Ok(response)| response);
                guard(this.id, poll, Poll::Ready)
            }
            AnswerProjection::Later { answer } => {
                guard(this.id, || answer.as_mut().poll(cx), Poll::Ready)
            }
            AnswerProjection::Now { answer } => {
                Poll::Ready(answer.take().expect("hyper polls no answer again"))
            }
        }
    }
}

/// What a handler says, or `instead` of an answer in its place if it panicked. It is never asked again then, so nothing
/// sees its broken state; what it shares with others is guarded by locks that poison.
pub(super) fn guard<T>(
    id: &RequestId,
    handler: impl FnOnce() -> T,
    instead: impl FnOnce(Response) -> T,
) -> T {
    catch_unwind(AssertUnwindSafe(handler)).unwrap_or_else(|panic| {
        let message = message_of(&*panic);
        tracing::error!(request.id = %id, panic = message, "a handler panicked");
        instead(Problem::internal().into_response())
    })
}

fn message_of(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("not a text")
}
