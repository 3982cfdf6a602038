//! Where the messages of a connection begin and end, on the bytes as they arrive.
//!
//! hyper answers a hostile head with a bare status, or repairs it silently: it accepts lines that
//! end in LF alone, and drops `Content-Length` beside `Transfer-Encoding`. Both are how requests
//! are smuggled past a proxy that reads them otherwise, so they are refused before hyper sees them.
//! Everything else about a head is left to hyper's parser, which is strict.

use http::StatusCode;

use super::chunks::Position;
use crate::{Limits, Problem};

/// Enough for the name and the value of a framing header; such a line is refused when longer.
const LINE_START: usize = 64;

/// Why a connection is answered and closed without asking the router.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) status: StatusCode,
    pub(crate) detail: &'static str,
}

impl Refusal {
    pub(crate) const SLOW_HEAD: Self = Self {
        status: StatusCode::REQUEST_TIMEOUT,
        detail: "The head of the request did not arrive in time.",
    };

    pub(crate) const BAD_CHUNK: Self = Self::bad("The chunked body is malformed.");

    /// For what hyper itself refuses.
    pub(crate) fn by_status(status: StatusCode) -> Self {
        Self {
            status,
            detail: "The head of the request is malformed.",
        }
    }

    const fn bad(detail: &'static str) -> Self {
        Self {
            status: StatusCode::BAD_REQUEST,
            detail,
        }
    }

    const fn too_large(detail: &'static str) -> Self {
        Self {
            status: StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
            detail,
        }
    }

    pub(crate) fn to_problem(self) -> Problem {
        Problem::invalid(self.status, self.detail).closing()
    }
}

#[derive(Debug)]
pub(crate) struct Framing {
    headers_max: usize,
    head_bytes_max: usize,
    state: State,
    head: Head,
    line: PartialLine,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Head,
    /// Bytes left of a body of declared length.
    Body(u64),
    Chunked(Position),
}

#[derive(Clone, Copy, Debug, Default)]
struct Head {
    bytes: usize,
    lines: usize,
    length: Option<u64>,
    chunked: bool,
}

/// A line that arrived in pieces: its start, and the byte before its end.
#[derive(Debug)]
struct PartialLine {
    start: [u8; LINE_START],
    bytes: usize,
    last: u8,
}

/// One line without its end; `whole` unless only its start was kept.
struct Line<'a> {
    text: &'a [u8],
    whole: bool,
    crlf: bool,
}

impl Framing {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            headers_max: limits.headers_max,
            head_bytes_max: limits.head_bytes_max,
            state: State::Head,
            head: Head::default(),
            line: PartialLine {
                start: [0; LINE_START],
                bytes: 0,
                last: 0,
            },
        }
    }

    /// Whether a request has begun whose head is not complete.
    pub(crate) fn in_head(&self) -> bool {
        self.state == State::Head && self.head.bytes > 0
    }

    /// Whether a body has begun that is not complete.
    pub(crate) fn in_body(&self) -> bool {
        self.state != State::Head
    }

    /// Whether the peer has begun a message that it has not ended.
    pub(crate) fn in_message(&self) -> bool {
        self.state != State::Head || self.head.bytes > 0
    }

    pub(crate) fn advance(&mut self, mut input: &[u8]) -> Result<(), Refusal> {
        while !input.is_empty() {
            input = match self.state {
                State::Head => self.head_line(input)?,
                State::Body(left) => self.skip(input, left),
                State::Chunked(position) => self.chunks(input, position)?,
            };
        }
        Ok(())
    }

    fn head_line<'a>(&mut self, input: &'a [u8]) -> Result<&'a [u8], Refusal> {
        let (piece, rest) = split_line(input);
        self.head.bytes += piece.len();
        if self.head.bytes > self.head_bytes_max {
            return Err(Refusal::too_large(
                "The head of the request has too many bytes.",
            ));
        }
        if let Some(line) = self.line.complete(piece) {
            let ends = self.head.take(&line, self.headers_max)?;
            self.line.bytes = 0;
            if ends {
                let head = std::mem::take(&mut self.head);
                self.state = match head.length {
                    _ if head.chunked => State::Chunked(Position::START),
                    Some(length) if length > 0 => State::Body(length),
                    _ => State::Head,
                };
            }
        }
        Ok(rest)
    }

    fn chunks<'a>(&mut self, input: &'a [u8], mut position: Position) -> Result<&'a [u8], Refusal> {
        let rest = position.advance(input)?;
        self.state = match position {
            Position::End => State::Head,
            position => State::Chunked(position),
        };
        Ok(rest)
    }

    fn skip<'a>(&mut self, input: &'a [u8], left: u64) -> &'a [u8] {
        let here = usize::try_from(left).map_or(input.len(), |left| left.min(input.len()));
        self.state = match left - here as u64 {
            0 => State::Head,
            left => State::Body(left),
        };
        &input[here..]
    }
}

impl Head {
    /// Takes one line; answers whether it ends the head.
    fn take(&mut self, line: &Line<'_>, headers_max: usize) -> Result<bool, Refusal> {
        if !line.crlf {
            return Err(Refusal::bad("Lines of the head have to end with CR LF."));
        }
        if line.text.is_empty() {
            // Empty lines before the request line are allowed by RFC 9112, section 2.2.
            return Ok(self.lines > 0);
        }
        self.lines += 1;
        if self.lines == 1 {
            return Ok(false);
        }
        if self.lines - 1 > headers_max {
            return Err(Refusal::too_large("The request has too many headers."));
        }
        self.framing_header(line)?;
        Ok(false)
    }

    fn framing_header(&mut self, line: &Line<'_>) -> Result<(), Refusal> {
        // Most headers are told apart from the two that matter by their first letter.
        if !matches!(line.text.first(), Some(b'c' | b'C' | b't' | b'T')) {
            return Ok(());
        }
        if let Some(value) = value_of(b"content-length:", line) {
            let length = line.whole.then(|| decimal(value)).flatten();
            let length = length.ok_or(Refusal::bad("`Content-Length` is not a number."))?;
            if self.length.replace(length).is_some() {
                return Err(Refusal::bad(
                    "The request has two `Content-Length` headers.",
                ));
            }
        } else if let Some(value) = value_of(b"transfer-encoding:", line) {
            if self.chunked || !line.whole || !value.eq_ignore_ascii_case(b"chunked") {
                return Err(Refusal::bad(
                    "The only `Transfer-Encoding` taken is `chunked`.",
                ));
            }
            self.chunked = true;
        }
        if self.chunked && self.length.is_some() {
            return Err(Refusal::bad(
                "The request has both `Transfer-Encoding` and `Content-Length`.",
            ));
        }
        Ok(())
    }
}

impl PartialLine {
    /// The line that ends with `piece`, or nothing yet. Whoever uses the line sets `bytes` to 0.
    fn complete<'a>(&'a mut self, piece: &'a [u8]) -> Option<Line<'a>> {
        let ended = piece.ends_with(b"\n");
        if ended && self.bytes == 0 {
            let crlf = piece.ends_with(b"\r\n");
            let text = &piece[..piece.len() - 1 - usize::from(crlf)];
            return Some(Line {
                text,
                whole: true,
                crlf,
            });
        }
        let before_end = match piece {
            [.., last, b'\n'] => *last,
            [b'\n'] => self.last,
            _ => 0,
        };
        let kept = self.bytes.min(LINE_START);
        let room = (LINE_START - kept).min(piece.len());
        self.start[kept..kept + room].copy_from_slice(&piece[..room]);
        self.bytes += piece.len();
        self.last = piece.last().copied().unwrap_or(self.last);
        ended.then(|| {
            let crlf = before_end == b'\r';
            let text_bytes = self.bytes - 1 - usize::from(crlf);
            Line {
                text: &self.start[..text_bytes.min(LINE_START)],
                whole: text_bytes <= LINE_START,
                crlf,
            }
        })
    }
}

fn split_line(input: &[u8]) -> (&[u8], &[u8]) {
    let end = memchr::memchr(b'\n', input).map_or(input.len(), |at| at + 1);
    input.split_at(end)
}

fn value_of<'a>(name: &[u8], line: &Line<'a>) -> Option<&'a [u8]> {
    let (start, value) = line.text.split_at_checked(name.len())?;
    start.eq_ignore_ascii_case(name).then(|| value.trim_ascii())
}

fn decimal(text: &[u8]) -> Option<u64> {
    let digits = !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    digits
        .then(|| str::from_utf8(text).ok()?.parse().ok())
        .flatten()
}

#[cfg(test)]
#[path = "framing_tests.rs"]
mod tests;
