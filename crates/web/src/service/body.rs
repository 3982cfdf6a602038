//! A request body within the limits of its listener, whichever extractor reads it.

use std::{
    error::Error,
    fmt,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};

use axum::body::{Body, Bytes};
use http::{HeaderMap, StatusCode, header::EXPECT};
use http_body::{Body as _, Frame, SizeHint};
use hyper::body::Incoming;
use tokio::time::{Sleep, sleep};

use super::unread::{Loan, Rest, Unread};
use crate::{Limits, Problem};

/// Why a body was not read to its end.
#[derive(Debug)]
pub(crate) enum BodyError {
    TooLarge { bytes_max: usize },
    TooSlow,
    Broken(hyper::Error),
}

impl BodyError {
    pub(crate) fn to_problem(&self) -> Problem {
        let problem = match self {
            Self::TooLarge { bytes_max } => Problem::invalid(
                StatusCode::PAYLOAD_TOO_LARGE,
                format!("The body has more than {bytes_max} bytes."),
            ),
            Self::TooSlow => Problem::invalid(
                StatusCode::REQUEST_TIMEOUT,
                "The body did not arrive in time.",
            ),
            Self::Broken(_) => Problem::invalid(
                StatusCode::BAD_REQUEST,
                "The body ended early or is badly framed.",
            ),
        };
        problem.closing()
    }
}

impl fmt::Display for BodyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TooLarge { .. } => "the body is too large",
            Self::TooSlow => "the body did not arrive in time",
            Self::Broken(_) => "the body is broken",
        })
    }
}

impl Error for BodyError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Broken(error) => Some(error),
            Self::TooLarge { .. } | Self::TooSlow => None,
        }
    }
}

pub(crate) struct RequestBody {
    /// None once the rest was handed back.
    incoming: Option<Incoming>,
    rest: OfRest,
    bytes_max: usize,
    bytes_left: usize,
    limit: Duration,
    /// Started by the first wait; a body that came with its head never needs one.
    timer: Option<Pin<Box<Sleep>>>,
    /// None if hyper can discard what is not read.
    loan: Option<Loan>,
}

/// What can be done about the part of a body that has not been read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OfRest {
    Read,
    /// The client sends it only when told to go on, or it has broken a limit.
    Leave,
    /// There is none.
    Nothing,
}

impl RequestBody {
    pub(crate) fn wrap(
        incoming: Incoming,
        headers: &HeaderMap,
        limits: &Limits,
        unread: &Arc<Unread>,
    ) -> Body {
        if incoming.is_end_stream() {
            return Body::empty();
        }
        let loan = unread.lend(&incoming);
        let rest = if loan.is_some() && headers.contains_key(EXPECT) {
            OfRest::Leave
        } else {
            OfRest::Read
        };
        Body::new(Self {
            incoming: Some(incoming),
            rest,
            bytes_max: limits.body_bytes_max,
            bytes_left: limits.body_bytes_max,
            limit: limits.body,
            timer: None,
            loan,
        })
    }

    fn count(&mut self, frame: Frame<Bytes>) -> Result<Frame<Bytes>, BodyError> {
        let bytes = frame.data_ref().map_or(0, Bytes::len);
        match self.bytes_left.checked_sub(bytes) {
            Some(left) => {
                self.bytes_left = left;
                Ok(frame)
            }
            None => Err(BodyError::TooLarge {
                bytes_max: self.bytes_max,
            }),
        }
    }

    fn wait(&mut self, cx: &mut Context<'_>) -> Poll<BodyError> {
        let limit = self.limit;
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep(limit)));
        timer.as_mut().poll(cx).map(|()| BodyError::TooSlow)
    }
}

impl Drop for RequestBody {
    fn drop(&mut self) {
        let (Some(loan), Some(incoming)) = (self.loan.take(), self.incoming.take()) else {
            return;
        };
        match self.rest {
            OfRest::Nothing => loan.complete(),
            _ if incoming.is_end_stream() => loan.complete(),
            OfRest::Read => loan.hand_back(Rest::arriving(incoming)),
            OfRest::Leave => loan.hand_back(Rest::abandoned(incoming)),
        }
    }
}

impl http_body::Body for RequestBody {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let Some(incoming) = &mut self.incoming else {
            return Poll::Ready(None);
        };
        let polled = Pin::new(incoming).poll_frame(cx);
        // Polling the body sends `100 Continue` to a client that waits for it.
        self.rest = OfRest::Read;
        let frame = match polled {
            Poll::Ready(Some(Ok(frame))) => self.count(frame),
            Poll::Ready(Some(Err(error))) => Err(BodyError::Broken(error)),
            Poll::Ready(None) => {
                self.rest = OfRest::Nothing;
                return Poll::Ready(None);
            }
            Poll::Pending => Err(ready!(self.wait(cx))),
        };
        if frame.is_err() {
            self.rest = OfRest::Leave;
        }
        Poll::Ready(Some(frame))
    }

    fn is_end_stream(&self) -> bool {
        self.incoming
            .as_ref()
            .is_none_or(http_body::Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.incoming
            .as_ref()
            .map_or_else(SizeHint::default, http_body::Body::size_hint)
    }
}
