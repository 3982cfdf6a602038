//! What the parts of one connection tell each other.

use std::{
    convert::Infallible,
    io,
    net::SocketAddr,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    task::{Context, Poll, ready},
};

use axum::body::{Body, Bytes};
use http::{Request, Response};
use http_body::{Frame, SizeHint};
use hyper::body::Incoming;

use super::framing::Framing;
use crate::{
    event_loops::note_request,
    service::{Answering, Discarding, Service, Unread},
};

/// Shared by the socket, the service and the timer of one connection.
///
/// All of them run in the connection's one task, so the atomics order nothing; they only let the
/// task move between threads.
#[derive(Debug)]
pub(super) struct Link {
    pub(super) service: Arc<Service>,
    peer: SocketAddr,
    /// A request was handed to the service, and its answer's body is not all produced.
    in_service: AtomicBool,
    /// A request was handed to the service, and its answer is not all written.
    answer_due: AtomicBool,
    /// Part of a head has arrived.
    in_head: AtomicBool,
    /// The peer's window is full.
    blocked: AtomicBool,
    /// The peer sends nothing more, and an answer was due when it said so.
    half_closed: AtomicBool,
    requests: AtomicU64,
    /// Bytes of answers that the socket has taken.
    written: AtomicU64,
    unread: Arc<Unread>,
}

/// What a connection is waiting for. Equal as long as the same wait goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Between requests.
    Idle { requests: u64 },
    /// In the middle of a head.
    Head { requests: u64 },
    /// For the rest of a body, which keeps its own time.
    Body { requests: u64 },
    /// For a handler.
    Service,
    /// For a handler, while the peer sends nothing more and may be gone.
    HalfClosed,
    /// For the peer to take an answer.
    Blocked { written: u64 },
}

impl Link {
    pub(super) fn new(service: Arc<Service>, peer: SocketAddr) -> Self {
        Self {
            service,
            peer,
            in_service: AtomicBool::new(false),
            answer_due: AtomicBool::new(false),
            in_head: AtomicBool::new(false),
            blocked: AtomicBool::new(false),
            half_closed: AtomicBool::new(false),
            requests: AtomicU64::new(0),
            written: AtomicU64::new(0),
            unread: Arc::default(),
        }
    }

    pub(super) fn phase(&self) -> Phase {
        let requests = self.requests.load(Relaxed);
        if self.blocked.load(Relaxed) {
            Phase::Blocked {
                written: self.written.load(Relaxed),
            }
        } else if self.answer_is_due() {
            if self.half_closed.load(Relaxed) {
                Phase::HalfClosed
            } else if self.unread.is_arriving() {
                Phase::Body { requests }
            } else {
                Phase::Service
            }
        } else if self.in_head.load(Relaxed) {
            Phase::Head { requests }
        } else {
            Phase::Idle { requests }
        }
    }

    pub(super) fn answer_is_due(&self) -> bool {
        self.answer_due.load(Relaxed)
    }

    /// Remembers where in a message the input stands.
    pub(super) fn received(&self, framing: &Framing) {
        self.in_head.store(framing.in_head(), Relaxed);
        self.unread.set_arriving(framing.in_body());
    }

    pub(super) fn wrote(&self, written: &Poll<io::Result<usize>>) {
        self.blocked.store(written.is_pending(), Relaxed);
        if let Poll::Ready(Ok(bytes)) = written {
            let written = self.written.load(Relaxed) + *bytes as u64;
            self.written.store(written, Relaxed);
        }
    }

    /// Whether the last answer is written, and the end of the input can be dealt with now.
    pub(super) fn flushed(&self) -> bool {
        if !self.in_service.load(Relaxed) {
            self.answer_due.store(false, Relaxed);
        }
        self.half_closed.load(Relaxed) && !self.answer_is_due()
    }

    pub(super) fn set_half_closed(&self) {
        self.half_closed.store(true, Relaxed);
    }

    fn begins(&self) {
        self.requests
            .store(self.requests.load(Relaxed) + 1, Relaxed);
        self.in_service.store(true, Relaxed);
        self.answer_due.store(true, Relaxed);
    }
}

/// The service as hyper calls it for one connection.
#[derive(Debug)]
pub(super) struct Handler(pub(super) Arc<Link>);

impl hyper::service::Service<Request<Incoming>> for Handler {
    type Response = Response<Answer>;
    type Error = Infallible;
    type Future = Handling;

    fn call(&self, request: Request<Incoming>) -> Handling {
        self.0.begins();
        note_request();
        let answering = self.0.service.begin(request, self.0.peer, &self.0.unread);
        Handling {
            answering,
            discarding: None,
            link: Some(Arc::clone(&self.0)),
        }
    }
}

pin_project_lite::pin_project! {
    /// One request in the service.
    pub(super) struct Handling {
        #[pin]
        answering: Answering,
        // An answer that is ready before its request was read.
        discarding: Option<Box<Discarding>>,
        // Goes with the answer.
        link: Option<Arc<Link>>,
    }
}

impl Future for Handling {
    type Output = Result<Response<Answer>, Infallible>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        let response = if let Some(discarding) = this.discarding {
            ready!(discarding.poll(cx))
        } else {
            let response = ready!(this.answering.as_mut().poll(cx));
            let link = this.link.as_ref().expect("hyper polls no answer again");
            let (id, started) = (&this.answering.id, this.answering.started);
            let response = link.service.finish(response, id, started);
            match link.unread.take() {
                None => response,
                Some(rest) => {
                    let discarding = Box::new(rest.discard_before(response));
                    ready!(this.discarding.insert(discarding).poll(cx))
                }
            }
        };
        let link = this.link.take().expect("hyper polls no answer again");
        Poll::Ready(Ok(response.map(|body| Answer { body, link })))
    }
}

/// The body of an answer. hyper drops it once it has taken the last of it.
#[derive(Debug)]
pub(super) struct Answer {
    body: Body,
    link: Arc<Link>,
}

impl Drop for Answer {
    fn drop(&mut self) {
        self.link.in_service.store(false, Relaxed);
    }
}

impl http_body::Body for Answer {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
