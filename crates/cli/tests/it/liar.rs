//! A proxy that changes what a server says, so that those who check it have something to find.

use std::{
    io::{self, BufRead, BufReader, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    thread,
};

/// An answer on its way.
pub(crate) struct Passing {
    /// The status line and the headers, each with its line end, without the empty line.
    pub(crate) head: String,
    pub(crate) body: String,
}

/// What becomes of an answer.
pub(crate) enum Fate {
    Arrives,
    /// The connection ends instead.
    Lost,
}

/// Starts a proxy before a server; it ends with the test.
pub(crate) fn before(
    server: SocketAddr,
    lie: impl Fn(&mut Passing) -> Fate + Clone + Send + 'static,
) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("a bound socket");
    thread::spawn(move || {
        for near in listener.incoming().map_while(Result::ok) {
            let lie = lie.clone();
            thread::spawn(move || {
                // Either side may go at any time.
                carry(near, server, lie).ok();
            });
        }
    });
    address
}

fn carry(
    near: TcpStream,
    server: SocketAddr,
    lie: impl Fn(&mut Passing) -> Fate,
) -> io::Result<()> {
    let far = TcpStream::connect(server)?;
    let (mut questions, mut onward) = (near.try_clone()?, far.try_clone()?);
    thread::spawn(move || {
        io::copy(&mut questions, &mut onward).ok();
        onward.shutdown(std::net::Shutdown::Both).ok();
    });
    let (mut answers, mut back) = (BufReader::new(far), near);
    loop {
        let mut answer = read_answer(&mut answers)?;
        if matches!(lie(&mut answer), Fate::Lost) {
            return back.shutdown(std::net::Shutdown::Both);
        }
        let length = match answer.body.len() {
            0 => String::new(),
            length => format!("Content-Length: {length}\r\n"),
        };
        let text = format!("{}{length}\r\n{}", answer.head, answer.body);
        back.write_all(text.as_bytes())?;
    }
}

fn read_answer(stream: &mut impl BufRead) -> io::Result<Passing> {
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if line == "\r\n" {
            break;
        }
        let lower = line.to_ascii_lowercase();
        match lower.strip_prefix("content-length:") {
            Some(text) => length = text.trim().parse().unwrap_or(0),
            None => head += &line,
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body)?;
    let body = String::from_utf8(body).map_err(io::Error::other)?;
    Ok(Passing { head, body })
}
