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
        route: Option<RouteFuture<Infallible>>,
        refusal: Option<Problem>,
        pub(crate) id: RequestId,
        pub(crate) started: Option<Instant>,
    }
}

impl Answering {
    pub(super) fn routed(
        route: RouteFuture<Infallible>,
        id: RequestId,
        started: Option<Instant>,
    ) -> Self {
        Self {
            route: Some(route),
            refusal: None,
            id,
            started,
        }
    }

    pub(super) fn refused(problem: Problem, id: RequestId, started: Option<Instant>) -> Self {
        Self {
            route: None,
            refusal: Some(problem),
            id,
            started,
        }
    }
}

impl Future for Answering {
    type Output = Response;

    /// A handler that panicked is dropped and never polled again, so nothing sees its broken
    /// state; what it shares with others is guarded by locks that poison.
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Response> {
        let this = self.project();
        let Some(route) = this.route.as_pin_mut() else {
            let problem = this.refusal.take().unwrap_or_else(Problem::internal);
            return Poll::Ready(problem.into_response());
        };
        match catch_unwind(AssertUnwindSafe(|| route.poll(cx))) {
            Ok(answer) => answer.map(|Ok(response)| response),
            Err(panic) => {
                let message = message_of(&*panic);
                tracing::error!(request.id = %this.id, panic = message, "a handler panicked");
                Poll::Ready(Problem::internal().into_response())
            }
        }
    }
}

fn message_of(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("not a text")
}
