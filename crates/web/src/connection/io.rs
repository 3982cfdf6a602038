//! The socket as hyper sees it, with an eye on what passes.

use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use http::StatusCode;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
};

use super::{
    Link,
    framing::{Framing, Refusal},
};

#[derive(Debug)]
pub(super) struct Io {
    pub(super) stream: TcpStream,
    pub(super) framing: Framing,
    /// Why hyper was stopped. From then on hyper's own writes go nowhere.
    pub(super) refusal: Option<Refusal>,
    link: Arc<Link>,
}

impl Io {
    pub(super) fn new(stream: TcpStream, link: Arc<Link>) -> Self {
        let framing = Framing::new(&link.service.limits);
        Self {
            stream,
            framing,
            refusal: None,
            link,
        }
    }

    /// Whether the input ended after a whole request whose answer is still due.
    ///
    /// hyper would take the peer for gone and drop the request, but it may only have closed its
    /// writing side. It sees the end once the answer is written.
    fn ends_after_answer(&self) -> bool {
        self.link.answer_is_due() && !self.framing.in_body()
    }

    /// Whether `bytes` is an answer that hyper made by itself, to a head that it cannot parse.
    /// Its status is kept and a problem sent in its place.
    fn swallow(&mut self, bytes: &[u8]) -> bool {
        if self.refusal.is_none() && !self.link.answer_is_due() {
            let status = bytes
                .get(9..12)
                .and_then(|code| StatusCode::from_bytes(code).ok());
            self.refusal = status.map(Refusal::by_status);
        }
        self.refusal.is_some()
    }
}

impl AsyncRead for Io {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, buf))?;
        if buf.filled().len() == before && self.ends_after_answer() {
            self.link.set_half_closed();
            return Poll::Pending;
        }
        if let Err(refusal) = self.framing.advance(&buf.filled()[before..]) {
            buf.set_filled(before);
            self.refusal = Some(refusal);
            return Poll::Ready(Err(io::ErrorKind::InvalidData.into()));
        }
        self.link.received(&self.framing);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Io {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        if self.swallow(buf) {
            return Poll::Ready(Ok(buf.len()));
        }
        let written = Pin::new(&mut self.stream).poll_write(cx, buf);
        self.link.wrote(&written);
        written
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if self.swallow(bufs.first().map_or(&[], |first| first)) {
            return Poll::Ready(Ok(bufs.iter().map(|buf| buf.len()).sum()));
        }
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, bufs);
        self.link.wrote(&written);
        written
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    /// hyper flushes only once all that it holds is written.
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.link.flushed() {
            // Nothing else makes hyper read the end that was kept from it.
            cx.waker().wake_by_ref();
        }
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.refusal.is_some() {
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
