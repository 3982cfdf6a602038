//! The checker of framing, compared with hyper, whose reading of a request is the one that counts.

use std::{
    collections::BTreeSet,
    convert::Infallible,
    io,
    pin::{Pin, pin},
    sync::{Arc, Mutex},
    task::{Context, Poll, Waker},
};

use axum::body::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Empty};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use proptest::{collection::vec, prelude::*, sample::select};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::Framing;
use crate::Limits;

/// A socket that has one byte at a time, and remembers how many it gave.
#[derive(Clone, Default)]
struct Feed(Arc<Mutex<Fed>>);

#[derive(Default)]
struct Fed {
    next: Option<u8>,
    count: usize,
    /// How many bytes had come when a message was whole.
    ends: BTreeSet<usize>,
}

/// What hyper made of some bytes.
struct Reading {
    /// Where messages end.
    ends: BTreeSet<usize>,
    /// From how many bytes on hyper reads no more.
    stopped: usize,
}

impl AsyncRead for Feed {
    fn poll_read(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let mut fed = self.0.lock().unwrap();
        let Some(byte) = fed.next.take() else {
            return Poll::Pending;
        };
        fed.count += 1;
        buf.put_slice(&[byte]);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Feed {
    fn poll_write(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        Poll::Ready(Ok(buf.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// Lets hyper read `bytes` one by one.
fn hyper_reads(bytes: &[u8]) -> Reading {
    let feed = Feed::default();
    let service = service_fn(|request: Request<Incoming>| {
        let feed = feed.clone();
        async move {
            if request.into_body().collect().await.is_ok() {
                let mut fed = feed.0.lock().unwrap();
                let count = fed.count;
                fed.ends.insert(count);
            }
            Ok::<_, Infallible>(Response::new(Empty::<Bytes>::new()))
        }
    });
    let mut http = http1::Builder::new();
    let http = http.header_read_timeout(None).max_buf_size(64 * 1024);
    let mut connection = pin!(http.serve_connection(TokioIo::new(feed.clone()), service));
    let mut cx = Context::from_waker(Waker::noop());
    let mut stopped = bytes.len() + 1;
    for (before, byte) in bytes.iter().enumerate() {
        feed.0.lock().unwrap().next = Some(*byte);
        let mut polls = (0..4).map(|_| connection.as_mut().poll(&mut cx));
        let ended = polls.any(|poll| poll.is_ready());
        if ended || feed.0.lock().unwrap().next.is_some() {
            stopped = before + 1;
            break;
        }
    }
    let ends = feed.0.lock().unwrap().ends.clone();
    Reading { ends, stopped }
}

/// Feeds `pieces` to the checker, and compares with hyper after each of them.
///
/// Returns whether the checker took them all. It may refuse what hyper takes, but must never see
/// an end elsewhere.
fn follow<'a>(pieces: impl IntoIterator<Item = &'a [u8]>, hyper: &Reading) -> bool {
    let mut framing = Framing::new(&Limits::default());
    let mut count = 0;
    for piece in pieces {
        count += piece.len();
        if framing.advance(piece).is_err() {
            return false;
        }
        if count >= hyper.stopped {
            return true;
        }
        let ended = count == 0 || hyper.ends.contains(&count);
        assert_eq!(framing.in_message(), !ended, "after {count} bytes");
    }
    true
}

/// Compares byte by byte, and with the bytes in two pieces for every way to cut them.
fn compare(bytes: &[u8]) -> bool {
    let hyper = hyper_reads(bytes);
    let mut taken = follow(bytes.chunks(1), &hyper);
    for cut in 0..=bytes.len() {
        let (start, end) = bytes.split_at(cut);
        taken &= follow([start, end], &hyper);
    }
    taken && hyper.stopped > bytes.len()
}

fn texts(texts: &'static [&'static str]) -> impl Strategy<Value = String> {
    select(texts).prop_map(str::to_owned)
}

fn chunk() -> impl Strategy<Value = String> {
    let extension = texts(&["", "", ";x=y", " ", "\t;a", ";a=\"b\"", " ; "]);
    let data = select(&["a", "\r\n", "0\r\n\r\n", "GET / HTTP/1.1\r\n\r\n", "1\r\nb"][..]);
    (0_usize..14, extension, data, any::<bool>()).prop_map(|(zeros, extension, data, upper)| {
        let zeros = "0".repeat(zeros);
        let size = data.len();
        let size = if upper {
            format!("{size:X}")
        } else {
            format!("{size:x}")
        };
        format!("{zeros}{size}{extension}\r\n{data}\r\n")
    })
}

fn chunked() -> impl Strategy<Value = String> {
    let name = texts(&["Transfer-Encoding: chunked", "transfer-encoding:Chunked "]);
    let last = texts(&["0", "00", "0;x", "0000000000000000", "0 "]);
    let trailers = texts(&["", "", "X: y\r\n", "X: y\r\nZ: \r\n"]);
    (name, vec(chunk(), 0..3), last, trailers).prop_map(|(name, chunks, last, trailers)| {
        let chunks = chunks.concat();
        format!("POST / HTTP/1.1\r\n{name}\r\nx: y\r\n\r\n{chunks}{last}\r\n{trailers}\r\n")
    })
}

fn declared() -> impl Strategy<Value = String> {
    let name = texts(&["Content-Length: ", "content-length:", "CONTENT-LENGTH:\t0"]);
    let body = texts(&["", "a", "\r\n\r\n", "0\r\n\r\n", "GET / HTTP/1.1\r\n\r\n"]);
    (name, body).prop_map(|(name, body)| {
        let length = body.len();
        format!("POST / HTTP/1.1\r\nx: y\r\n{name}{length}\r\n\r\n{body}")
    })
}

fn messages() -> impl Strategy<Value = String> {
    let bare = texts(&[
        "GET / HTTP/1.1\r\n\r\n",
        "\r\nGET / HTTP/1.1\r\nc: t\r\n\r\n",
    ]);
    vec(prop_oneof![chunked(), chunked(), declared(), bare], 1..4).prop_map(|all| all.concat())
}

/// Messages with a line whose meaning is beyond what the checker keeps of it.
fn padded() -> impl Strategy<Value = String> {
    let body = "a\r\n\r\nGET / HTTP/1.1\r\n\r\n";
    let length = body.len();
    let chunk = format!("{ZEROS}{length:x}\r\n{body}\r\n0\r\n\r\n");
    select(vec![
        format!("POST / HTTP/1.1\r\nContent-Length: {ZEROS}{length}\r\n\r\n{body}"),
        format!("POST / HTTP/1.1\r\nContent-Length:{SPACES}{length}\r\n\r\n{body}"),
        format!("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n{chunk}"),
        format!("POST / HTTP/1.1\r\nTransfer-Encoding:{SPACES}chunked\r\n\r\n{chunk}"),
        format!("POST / HTTP/1.1\r\n{ZEROS}: {ZEROS}\r\n\r\n{body}"),
    ])
}

/// One change, at a place modulo the length.
#[derive(Clone, Debug)]
enum Edit {
    Insert(usize, &'static str),
    Remove(usize),
    Replace(usize, u8),
}

/// Longer than what the checker keeps of a line that arrives in pieces.
const ZEROS: &str = "000000000000000000000000000000000000000000000000000000000000000000000000";
const SPACES: &str = "                                                                        ";

const PIECES: &[&str] = &[
    "\n", "\r", "\r\n", " ", "0", "f", ";", "x: y\n", "\0", ZEROS, SPACES,
];

fn edit() -> impl Strategy<Value = Edit> {
    let piece = select(PIECES);
    let byte = select(&b"\r\n 0a;:xF\t"[..]);
    prop_oneof![
        (any::<usize>(), piece).prop_map(|(at, piece)| Edit::Insert(at, piece)),
        any::<usize>().prop_map(Edit::Remove),
        (any::<usize>(), byte).prop_map(|(at, byte)| Edit::Replace(at, byte)),
    ]
}

fn apply(edits: &[Edit], bytes: &mut Vec<u8>) {
    for edit in edits {
        let length = bytes.len();
        match edit {
            Edit::Insert(at, piece) => {
                let at = at % (length + 1);
                bytes.splice(at..at, piece.bytes());
            }
            Edit::Remove(at) => {
                bytes.remove(at % length);
            }
            Edit::Replace(at, byte) => bytes[at % length] = *byte,
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn well_formed_messages_end_where_hyper_ends_them(messages in messages()) {
        prop_assert!(compare(messages.as_bytes()), "refused");
    }

    #[test]
    fn damaged_messages_end_where_hyper_ends_them_or_are_refused(
        messages in prop_oneof![4 => messages(), 1 => padded()],
        edits in vec(edit(), 0..4),
    ) {
        let mut bytes = messages.into_bytes();
        apply(&edits, &mut bytes);
        compare(&bytes);
    }
}

#[test]
fn a_chunk_size_of_more_than_sixteen_digits_is_refused() {
    let head = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
    for (size, fine) in [
        ("0000000000000005", true),
        ("00000000000000005", false),
        ("ffffffffffffffff", true),
        ("10000000000000000", false),
        (&format!("{}35", "0".repeat(80)), false),
        ("", false),
        ("-5", false),
        ("5 5", false),
        ("5;\n", false),
    ] {
        let bytes = format!("{head}{size}\r\n");
        let hyper = hyper_reads(bytes.as_bytes());
        assert_eq!(follow([bytes.as_bytes()], &hyper), fine, "{size}");
        assert_eq!(follow(bytes.as_bytes().chunks(1), &hyper), fine, "{size}");
    }
}

#[test]
fn a_trailer_that_ends_in_lf_alone_is_refused() {
    let bytes = b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nx: y\n\r\n";
    let hyper = hyper_reads(bytes);
    assert!(!follow(bytes.chunks(1), &hyper));
}
