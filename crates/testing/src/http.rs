//! A plain blocking HTTP client, so that tests see every byte and every status.

use std::{
    io::{self, BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpStream},
    time::Duration,
};

use serde_json::Value;

/// No answer of a server under test takes longer.
const PATIENCE: Duration = Duration::from_secs(20);

/// One connection, kept alive.
#[derive(Debug)]
pub struct Client {
    address: SocketAddr,
    stream: BufReader<TcpStream>,
}

/// A request in the making.
#[derive(Debug, Clone)]
pub struct Ask {
    method: &'static str,
    path: String,
    host: String,
    headers: Vec<(String, String)>,
    body: Option<Vec<u8>>,
}

/// What a server answered.
#[derive(Debug, Clone)]
pub struct Reply {
    /// The status code.
    pub status: u16,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl Ask {
    /// `GET path`.
    pub fn get(path: &str) -> Self {
        Self::with("GET", path)
    }

    /// `POST path`.
    pub fn post(path: &str) -> Self {
        Self::with("POST", path)
    }

    /// `PATCH path`.
    pub fn patch(path: &str) -> Self {
        Self::with("PATCH", path)
    }

    /// `DELETE path`.
    pub fn delete(path: &str) -> Self {
        Self::with("DELETE", path)
    }

    /// `OPTIONS path`, as browsers ask before they call another site.
    pub fn options(path: &str) -> Self {
        Self::with("OPTIONS", path)
    }

    /// Any method.
    pub fn with(method: &'static str, path: &str) -> Self {
        Self {
            method,
            path: path.to_owned(),
            host: "localhost".to_owned(),
            headers: Vec::new(),
            body: None,
        }
    }

    /// To another host than `localhost`.
    #[must_use]
    pub fn host(mut self, host: &str) -> Self {
        host.clone_into(&mut self.host);
        self
    }

    /// With a header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// With the queue token.
    #[must_use]
    pub fn token(self, token: &str) -> Self {
        self.header("X-Queue-Token", token)
    }

    /// With a JSON body.
    #[must_use]
    pub fn json(self, body: &Value) -> Self {
        self.raw("application/json", body.to_string().as_bytes())
    }

    /// With any body.
    #[must_use]
    pub fn raw(mut self, content_type: &str, body: &[u8]) -> Self {
        self.body = Some(body.to_vec());
        self.header("Content-Type", content_type)
    }

    fn bytes(&self) -> Vec<u8> {
        let Self {
            method, path, host, ..
        } = self;
        let mut text = format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\n");
        for (name, value) in &self.headers {
            let (name, value) = (name.as_str(), value.as_str());
            text.extend([name, ": ", value, "\r\n"]);
        }
        if let Some(body) = &self.body {
            text.extend(["Content-Length: ", &body.len().to_string(), "\r\n"]);
        }
        text.push_str("\r\n");
        [text.as_bytes(), self.body.as_deref().unwrap_or_default()].concat()
    }
}

impl Client {
    /// A connection to a server.
    pub fn connect(address: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        Ok(Self {
            address,
            stream: BufReader::new(stream),
        })
    }

    /// Asks and waits for the answer; an error means that it is not known whether it was done.
    pub fn try_send(&mut self, ask: &Ask) -> io::Result<Reply> {
        self.stream.get_mut().write_all(&ask.bytes())?;
        read_reply(&mut self.stream)
    }

    /// Asks and waits for the answer; connects again if the server has closed the connection.
    pub fn send(&mut self, ask: &Ask) -> Reply {
        match self.try_send(ask) {
            Ok(reply) => {
                if reply.header("connection") == Some("close") {
                    *self = Self::connect(self.address).expect("the server takes connections");
                }
                reply
            }
            Err(error) => panic!("no answer to {} {}: {error}", ask.method, ask.path),
        }
    }
}

impl Reply {
    /// The body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|_| panic!("not JSON: {}", String::from_utf8_lossy(&self.body)))
    }

    /// The `code` of a problem.
    pub fn code(&self) -> String {
        self.json()["code"].as_str().unwrap_or_default().to_owned()
    }

    /// The first header of that name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }
}

fn read_reply(stream: &mut BufReader<TcpStream>) -> io::Result<Reply> {
    let line = read_line(stream)?;
    let status = line
        .split(' ')
        .nth(1)
        .and_then(|status| status.parse().ok());
    let status = status.ok_or_else(|| io::Error::other(format!("not a status line: {line}")))?;
    let mut headers = Vec::new();
    loop {
        let line = read_line(stream)?;
        if line.is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':') {
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
    }
    let mut reply = Reply {
        status,
        headers,
        body: Vec::new(),
    };
    let length = reply
        .header("content-length")
        .and_then(|text| text.parse().ok())
        .unwrap_or(0);
    reply.body = vec![0; length];
    stream.read_exact(&mut reply.body)?;
    Ok(reply)
}

fn read_line(stream: &mut BufReader<TcpStream>) -> io::Result<String> {
    let mut line = String::new();
    if stream.read_line(&mut line)? == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(line.trim_end().to_owned())
}
