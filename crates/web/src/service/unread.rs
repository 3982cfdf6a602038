//! What is left of a request body when the answer is ready.
//!
//! A handler that refuses a request drops its body unread. If part of the body is still on its way,
//! hyper closes the connection without telling the client, whose next request then fails. So the
//! body is handed back here and discarded before the answer is sent. A body that is too large or
//! too slow is left where it is, and the answer announces that the connection closes.

use std::{
    pin::Pin,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    task::{Context, Poll, ready},
    time::Duration,
};

use axum::{body::Bytes, response::Response};
use http::{HeaderValue, header::CONNECTION};
use http_body::Body as _;
use hyper::body::Incoming;
use tokio::time::{Sleep, sleep};

/// Reading this much costs less than a new connection.
const BYTES_MAX: usize = 64 * 1024;

/// How long an answer waits for the body. A client that sends head and body apart takes one round
/// trip at most.
const WAIT_MAX: Duration = Duration::from_secs(1);

/// Where one connection keeps the body of its request once the handler has dropped it.
#[derive(Debug, Default)]
pub(crate) struct Unread {
    /// The peer has begun a body that has not all arrived.
    arriving: AtomicBool,
    /// Number of the last request that had a body.
    last: AtomicU64,
    /// This number until the body was read or the answer is ready, then 0.
    open: AtomicU64,
    rest: Mutex<Option<Rest>>,
}

/// The right to hand back one body.
#[derive(Debug)]
pub(super) struct Loan {
    unread: Arc<Unread>,
    number: u64,
}

/// A body that was not read to its end.
#[derive(Debug)]
pub(crate) struct Rest {
    incoming: Incoming,
    bytes_left: usize,
    /// Started by the first wait.
    timer: Option<Pin<Box<Sleep>>>,
}

impl Unread {
    pub(crate) fn set_arriving(&self, arriving: bool) {
        self.arriving.store(arriving, Relaxed);
    }

    /// Whether the peer has begun a body that has not all arrived.
    pub(crate) fn is_arriving(&self) -> bool {
        self.arriving.load(Relaxed)
    }

    /// Begins a request with a body, unless hyper can discard the body by itself: it does so
    /// without closing the connection if the body is one piece, and is there.
    pub(super) fn lend(self: &Arc<Self>, body: &Incoming) -> Option<Loan> {
        if !self.arriving.load(Relaxed) && body.size_hint().exact().is_some() {
            return None;
        }
        let number = self.last.load(Relaxed) + 1;
        self.last.store(number, Relaxed);
        self.open.store(number, Relaxed);
        let unread = Arc::clone(self);
        Some(Loan { unread, number })
    }

    /// What is left of the body now that the answer is ready.
    pub(crate) fn take(&self) -> Option<Rest> {
        if self.open.load(Relaxed) == 0 {
            return None;
        }
        let mut slot = self.rest.lock().ok()?;
        self.open.store(0, Relaxed);
        slot.take()
    }
}

impl Loan {
    /// The body was read to its end.
    pub(super) fn complete(self) {
        let open = &self.unread.open;
        open.compare_exchange(self.number, 0, Relaxed, Relaxed).ok();
    }

    /// Takes the body from its handler, unless the answer was sent already.
    pub(super) fn hand_back(self, rest: Rest) {
        if let Ok(mut slot) = self.unread.rest.lock()
            && self.unread.open.load(Relaxed) == self.number
        {
            *slot = Some(rest);
        }
    }
}

impl Rest {
    /// A body that is discarded if it arrives in time.
    pub(super) fn arriving(incoming: Incoming) -> Self {
        Self::within(incoming, BYTES_MAX)
    }

    /// A body that nobody should wait for.
    pub(super) fn abandoned(incoming: Incoming) -> Self {
        Self::within(incoming, 0)
    }

    fn within(incoming: Incoming, bytes_left: usize) -> Self {
        Self {
            incoming,
            bytes_left,
            timer: None,
        }
    }

    /// Discards the rest before `response` is sent.
    pub(crate) fn discard_before(self, response: Response) -> Discarding {
        let connection = response.headers().get(CONNECTION);
        let goes_on = connection.is_none_or(|value| value != "close");
        let fits = self.incoming.size_hint().lower() <= self.bytes_left as u64;
        let wanted = goes_on && fits && self.bytes_left > 0;
        Discarding {
            response: Some(response),
            rest: wanted.then_some(self),
        }
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Discarded> {
        while let Poll::Ready(frame) = Pin::new(&mut self.incoming).poll_frame(cx) {
            let bytes = match frame {
                Some(Ok(frame)) => frame.data_ref().map_or(0, Bytes::len),
                Some(Err(_)) => return Poll::Ready(Discarded::InPart),
                None => return Poll::Ready(Discarded::Whole),
            };
            match self.bytes_left.checked_sub(bytes) {
                Some(left) => self.bytes_left = left,
                None => return Poll::Ready(Discarded::InPart),
            }
        }
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep(WAIT_MAX)));
        timer.as_mut().poll(cx).map(|()| Discarded::InPart)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Discarded {
    Whole,
    InPart,
}

/// An answer that waits until the request was read.
#[derive(Debug)]
pub(crate) struct Discarding {
    response: Option<Response>,
    rest: Option<Rest>,
}

impl Discarding {
    /// The answer, which announces the close if the request was not read to its end.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Response> {
        let discarded = match &mut self.rest {
            Some(rest) => ready!(rest.poll(cx)),
            None => Discarded::InPart,
        };
        let mut response = self.response.take().expect("hyper polls no answer again");
        if discarded == Discarded::InPart {
            let close = HeaderValue::from_static("close");
            response.headers_mut().insert(CONNECTION, close);
        }
        Poll::Ready(response)
    }
}
