//! Requests that are refused before their body is read never break a connection without a word.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    thread,
    time::Duration,
};

use crate::app::TestApp;

/// No answer takes this long.
const PATIENCE: Duration = Duration::from_secs(10);
const SETTINGS: &str = "trusted_proxies = [\"127.0.0.1\"]\nrate_limits.joins_per_minute = 1\n";

/// A request with a body of two bytes that is refused with this status.
struct Refused {
    path: &'static str,
    headers: &'static [&'static str],
    status: u16,
}

const fn refused(path: &'static str, headers: &'static [&'static str], status: u16) -> Refused {
    Refused {
        path,
        headers,
        status,
    }
}

const REFUSED: [Refused; 10] = [
    refused("/api/v1/admin/rooms", &[], 401),
    refused(
        "/api/v1/admin/rooms/main/pause",
        &["Authorization: Bearer no"],
        401,
    ),
    refused("/api/v1/service/rooms/main/tokens", &[], 401),
    refused(
        "/api/v1/queue/tokens",
        &["Origin: https://evil.example"],
        403,
    ),
    refused("/api/v1/queue/tokens", &["Sec-Fetch-Site: cross-site"], 403),
    refused("/api/v1/nothing", &[], 404),
    refused("/healthz", &[], 405),
    refused("/api/v1/queue/tokens", &["Host: evil.example"], 421),
    refused(
        "/api/v1/queue/tokens",
        &["X-Forwarded-For: 198.51.100.7"],
        429,
    ),
    refused("/api/v1/admin/rooms/..%2f..%2fwait%2fmain", &[], 400),
];

/// One connection, on which heads and bodies are sent apart.
struct Connection {
    stream: BufReader<TcpStream>,
    host: String,
}

impl Connection {
    fn open(app: &TestApp) -> Self {
        let stream = TcpStream::connect(app.address).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Self {
            stream: BufReader::new(stream),
            host: app.address.to_string(),
        }
    }

    fn send(&mut self, request: &Refused, body: &[u8]) {
        let host = format!("Host: {}", self.host);
        let length = format!("Content-Length: {}", body.len());
        let mut headers = request.headers.iter();
        let names_host = headers.any(|header| header.starts_with("Host:"));
        let own_host = (!names_host).then_some(host.as_str());
        let start = format!("POST {} HTTP/1.1", request.path);
        let lines = [&start, "Content-Type: application/json", &length];
        let lines = lines.into_iter().chain(own_host);
        let lines: Vec<&str> = lines.chain(request.headers.iter().copied()).collect();
        self.write(format!("{}\r\n\r\n", lines.join("\r\n")).as_bytes());
        thread::yield_now();
        self.write(body);
    }

    fn write(&mut self, bytes: &[u8]) {
        self.stream.get_mut().write_all(bytes).unwrap();
    }

    /// The status of the next answer, and whether the server announces that it closes.
    #[track_caller]
    fn answer(&mut self) -> (u16, bool) {
        let mut head = Vec::new();
        loop {
            let mut line = String::new();
            let read = self.stream.read_line(&mut line).expect("an answer");
            assert_ne!(read, 0, "the connection ended without an answer");
            if line == "\r\n" {
                break;
            }
            head.push(line.trim_end().to_ascii_lowercase());
        }
        let value = |name: &str| head.iter().find_map(|line| line.strip_prefix(name));
        let length = value("content-length: ").map_or(0, |length| length.parse().unwrap());
        self.stream.read_exact(&mut vec![0; length]).unwrap();
        let status = head[0].split(' ').nth(1).unwrap().parse().unwrap();
        (status, value("connection: ") == Some("close"))
    }
}

fn join_until_limited(app: &TestApp) {
    let join = refused(
        "/api/v1/queue/tokens",
        &["X-Forwarded-For: 198.51.100.7"],
        201,
    );
    let mut connection = Connection::open(app);
    connection.send(&join, b"{}");
    assert_eq!(connection.answer(), (join.status, false));
}

#[test]
fn a_refused_request_whose_body_comes_after_its_head_keeps_the_connection() {
    let app = TestApp::with(SETTINGS);
    join_until_limited(&app);
    let mut connection = Connection::open(&app);
    for _ in 0..10 {
        for request in &REFUSED {
            connection.send(request, b"{}");
            let expected = (request.status, false);
            assert_eq!(connection.answer(), expected, "{}", request.path);
        }
    }
}

#[test]
fn a_refused_request_with_a_body_beyond_the_limit_is_answered_and_the_close_is_announced() {
    let app = TestApp::with(SETTINGS);
    join_until_limited(&app);
    let too_large = vec![b' '; 65_537];
    for request in &REFUSED {
        let mut connection = Connection::open(&app);
        connection.send(request, &too_large);
        let (status, closes) = connection.answer();
        assert!(
            [413, request.status].contains(&status),
            "{status} {}",
            request.path
        );
        assert!(closes, "{}", request.path);
    }
    let mut connection = Connection::open(&app);
    connection.send(&refused("/api/v1/queue/tokens", &[], 413), &too_large);
    assert_eq!(connection.answer(), (413, true));
}
