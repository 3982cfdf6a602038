//! A request body within the limits of its listener, whichever extractor reads it.

use std::{
    error::Error,
    fmt,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use axum::body::{Body, Bytes};
use http::StatusCode;
use http_body::{Body as _, Frame, SizeHint};
use hyper::body::Incoming;
use tokio::time::{Sleep, sleep};

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
    incoming: Incoming,
    bytes_max: usize,
    bytes_left: usize,
    limit: Duration,
    /// Started by the first wait; a body that came with its head never needs one.
    timer: Option<Pin<Box<Sleep>>>,
}

impl RequestBody {
    pub(crate) fn wrap(incoming: Incoming, limits: &Limits) -> Body {
        if incoming.is_end_stream() {
            return Body::empty();
        }
        Body::new(Self {
            incoming,
            bytes_max: limits.body_bytes_max,
            bytes_left: limits.body_bytes_max,
            limit: limits.body,
            timer: None,
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
}

impl http_body::Body for RequestBody {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        match Pin::new(&mut self.incoming).poll_frame(cx) {
            Poll::Ready(Some(Ok(frame))) => Poll::Ready(Some(self.count(frame))),
            Poll::Ready(Some(Err(error))) => Poll::Ready(Some(Err(BodyError::Broken(error)))),
            Poll::Ready(None) => Poll::Ready(None),
            Poll::Pending => {
                let limit = self.limit;
                let timer = self.timer.get_or_insert_with(|| Box::pin(sleep(limit)));
                timer
                    .as_mut()
                    .poll(cx)
                    .map(|()| Some(Err(BodyError::TooSlow)))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.incoming.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.incoming.size_hint()
    }
}
