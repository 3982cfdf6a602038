//! One connection that sends a request, takes the answer, and knows just enough of HTTP/1.1.

use std::{net::SocketAddr, str};

use memchr::memmem;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use crate::Result;

/// No answer that is measured comes near.
pub(super) const ANSWER_BYTES_MAX: usize = 16 * 1024;

/// A connection that is kept alive.
#[derive(Debug)]
pub(crate) struct Client {
    stream: TcpStream,
    buffer: Box<[u8]>,
}

impl Client {
    pub(crate) async fn connect(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream,
            buffer: vec![0; ANSWER_BYTES_MAX].into(),
        })
    }

    /// Returns the body of the answer, which must be a success.
    pub(crate) async fn ask(&mut self, request: &[u8]) -> Result<&[u8]> {
        self.stream.write_all(request).await?;
        let mut filled = 0;
        loop {
            let read = self.stream.read(&mut self.buffer[filled..]).await?;
            if read == 0 {
                return Err("the server closed the connection, or the answer is too long".into());
            }
            filled += read;
            if let Some(head) = Head::of_complete(&self.buffer[..filled])? {
                return head.body(&self.buffer, request);
            }
        }
    }
}

/// One request over a connection of its own.
pub(crate) async fn once(address: SocketAddr, request: &[u8]) -> Result<Vec<u8>> {
    let mut client = Client::connect(address).await?;
    Ok(client.ask(request).await?.to_vec())
}

fn refusal(status: u16, request: &[u8], body: &[u8]) -> String {
    let line = request
        .split(|&byte| byte == b'\r')
        .next()
        .unwrap_or_default();
    format!(
        "status {status} to {}: {}",
        String::from_utf8_lossy(line),
        String::from_utf8_lossy(body)
    )
}

/// What must be known to find the end of an answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Head {
    status: u16,
    len: usize,
    body_len: usize,
}

impl Head {
    /// `None` as long as a part of the answer is missing.
    pub(super) fn of_complete(received: &[u8]) -> Result<Option<Self>> {
        let head = Self::parse(received)?;
        Ok(head.filter(|head| received.len() >= head.len + head.body_len))
    }

    /// Anything but 2xx is an error: refusals are cheap and would make a broken run look like a fast one.
    pub(super) fn body<'a>(&self, answer: &'a [u8], request: &[u8]) -> Result<&'a [u8]> {
        let body = &answer[self.len..self.len + self.body_len];
        match self.status {
            200..300 => Ok(body),
            status => Err(refusal(status, request, body).into()),
        }
    }

    /// `None` as long as the empty line is missing.
    fn parse(answer: &[u8]) -> Result<Option<Self>> {
        let Some(end) = memmem::find(answer, b"\r\n\r\n") else {
            return Ok(None);
        };
        let mut lines = answer[..end].split(|&byte| byte == b'\n');
        let status = lines
            .next()
            .and_then(status)
            .ok_or("not an HTTP/1.1 answer")?;
        let body_len = match status {
            204 | 304 => 0,
            _ => lines
                .find_map(content_length)
                .ok_or("an answer without Content-Length")?,
        };
        Ok(Some(Self {
            status,
            len: end + 4,
            body_len,
        }))
    }
}

fn status(line: &[u8]) -> Option<u16> {
    let digits = line.strip_prefix(b"HTTP/1.1 ")?.get(..3)?;
    str::from_utf8(digits).ok()?.parse().ok()
}

fn content_length(line: &[u8]) -> Option<usize> {
    const NAME: &[u8] = b"content-length:";
    let (name, value) = line.split_at_checked(NAME.len())?;
    let value = name.eq_ignore_ascii_case(NAME).then_some(value)?;
    str::from_utf8(value).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_head_says_where_the_answer_ends() {
        let answer = b"HTTP/1.1 201 Created\r\nContent-Length: 12\r\nx: y\r\n\r\n{}";
        let head = Head::parse(answer).expect("well formed").expect("complete");
        assert_eq!(
            (head.status, head.len, head.body_len),
            (201, answer.len() - 2, 12)
        );
    }

    #[test]
    fn an_unfinished_head_is_waited_for() {
        let head = Head::parse(b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\n").expect("no error yet");
        assert_eq!(head, None);
    }

    #[test]
    fn no_content_needs_no_length() {
        let head = Head::parse(b"HTTP/1.1 204 No Content\r\ndate: x\r\n\r\n").expect("well formed");
        assert_eq!(head.expect("complete").body_len, 0);
    }

    #[test]
    fn an_answer_of_unknown_length_is_an_error() {
        assert!(Head::parse(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n").is_err());
        assert!(Head::parse(b"SSH-2.0 hello\r\n\r\n").is_err());
    }
}
