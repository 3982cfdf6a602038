//! A service behind the gate.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use http::{
    HeaderMap, HeaderValue, Request, Response,
    header::{CACHE_CONTROL, SET_COOKIE},
};
use ropeline_web::RequestId;
use tower::Service;

use crate::{
    Admitted, Gate,
    judge::{Issued, Judged, Verdict},
};

/// A service that only those reach whom the gate lets through; made by [`Gate`] as a layer.
#[derive(Debug, Clone)]
pub struct Gated<S> {
    gate: Arc<Gate>,
    inner: S,
}

impl<S> Gated<S> {
    pub(crate) fn new(gate: Arc<Gate>, inner: S) -> Self {
        Self { gate, inner }
    }
}

impl<S, Q, A> Service<Request<Q>> for Gated<S>
where
    S: Service<Request<Q>, Response = Response<A>> + Clone + Send + 'static,
    S::Future: Send,
    Q: Send + 'static,
    A: From<String> + Send + 'static,
{
    type Response = Response<A>;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Response<A>, S::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<Q>) -> Self::Future {
        // Only the service that was polled is known to be ready; the clone is not.
        let next = self.inner.clone();
        let ready = std::mem::replace(&mut self.inner, next);
        Box::pin(answer(Arc::clone(&self.gate), ready, request))
    }
}

async fn answer<S, Q, A>(
    gate: Arc<Gate>,
    mut inner: S,
    request: Request<Q>,
) -> Result<Response<A>, S::Error>
where
    S: Service<Request<Q>, Response = Response<A>>,
    A: From<String>,
{
    if gate.exempts(request.uri().path()) {
        return inner.call(request).await;
    }
    let (mut head, body) = request.into_parts();
    let Judged { verdict, issued } = gate.judge(&head).await;
    let mut response = match verdict {
        Verdict::Through(admitted) => {
            // Of another gate before this one, whose word does not count here.
            head.extensions.remove::<Admitted>();
            if let Some(admitted) = admitted {
                head.extensions.insert(admitted);
            }
            inner.call(Request::from_parts(head, body)).await?
        }
        Verdict::Stop(problem) => problem.answer(&RequestId::of(&head)),
    };
    if let Some(issued) = issued {
        hand_over(issued, response.headers_mut());
    }
    Ok(response)
}

/// Gives a new token to browsers and to programs, and to no cache.
fn hand_over(issued: Issued, headers: &mut HeaderMap) {
    if let Ok(mut token) = HeaderValue::try_from(issued.token) {
        token.set_sensitive(true);
        headers.insert("x-queue-token", token);
    }
    if let Some(cookie) = issued.ticket.cookie {
        headers.append(SET_COOKIE, cookie);
    }
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
}
