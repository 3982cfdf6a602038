//! How much one peer may ask: what is refused beyond a limit of the file is taken by a server as shipped.

use std::{
    io::{ErrorKind, Read, Write},
    net::TcpStream,
    time::Duration,
};

use ropeline_testing::http::Ask;

use crate::process::{Server, Site};

/// Nothing that is on its way takes longer on the machine itself.
const MOMENT: Duration = Duration::from_millis(300);
const PATIENCE: Duration = Duration::from_secs(5);

/// How a server with these lines in `[limits]`, and one as shipped, answer.
fn statuses(limits: &str, ask: &Ask) -> [u16; 2] {
    [&format!("[limits]\n{limits}"), ""].map(|settings| {
        let site = Site::new(settings);
        let server = site.start();
        server.client().send(ask).status
    })
}

/// A join whose body has so many bytes.
fn join_of(bytes: usize) -> Ask {
    let body = format!("{:bytes$}", r#"{"userId":"ann"}"#);
    Ask::post("/api/v1/queue/tokens").raw("application/json", body.as_bytes())
}

#[test]
fn a_body_beyond_body_bytes_max_is_refused() {
    let limit = "body_bytes_max = 1024\n";
    assert_eq!(statuses(limit, &join_of(1_024)), [201, 201]);
    assert_eq!(statuses(limit, &join_of(1_025)), [413, 201]);
}

/// A request with so many headers, one of which is `Host`.
fn with_headers(count: usize) -> Ask {
    (1..count).fold(Ask::get("/healthz"), |ask, n| {
        ask.header(&format!("x-{n}"), "1")
    })
}

#[test]
fn a_header_beyond_headers_max_is_refused() {
    let limit = "headers_max = 32\n";
    assert_eq!(statuses(limit, &with_headers(32)), [200, 200]);
    assert_eq!(statuses(limit, &with_headers(33)), [431, 200]);
}

/// A request whose head has so many bytes.
fn with_head_of(bytes: usize) -> Ask {
    let frame = "GET /healthz HTTP/1.1\r\nHost: localhost\r\nx: \r\n\r\n".len();
    Ask::get("/healthz").header("x", &"a".repeat(bytes - frame))
}

#[test]
fn a_head_beyond_head_bytes_max_is_refused() {
    let limit = "head_bytes_max = 4096\n";
    assert_eq!(statuses(limit, &with_head_of(4_096)), [200, 200]);
    assert_eq!(statuses(limit, &with_head_of(4_097)), [431, 200]);
}

/// Asks on a connection of its own, and leaves the answer to come.
fn asking(server: &Server) -> TcpStream {
    let mut stream = TcpStream::connect(server.address()).expect("a server");
    let request = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
    stream.write_all(request).expect("an open socket");
    stream
}

fn is_answered_within(limit: Duration, stream: &mut TcpStream) -> bool {
    let set = stream.set_read_timeout(Some(limit));
    set.expect("an open socket");
    match stream.read(&mut [0; 1_024]) {
        Ok(bytes) => bytes > 0,
        Err(error) if error.kind() == ErrorKind::WouldBlock => false,
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn connections_beyond_connections_max_wait_for_one_to_end() {
    // One more is kept for this machine.
    let site = Site::new("[limits]\nconnections_max = 1\n");
    let server = site.start();
    let [mut first, mut second, mut third] = [(); 3].map(|()| asking(&server));
    for stream in [&mut first, &mut second] {
        assert!(is_answered_within(PATIENCE, stream));
    }
    assert!(!is_answered_within(MOMENT, &mut third));
    drop(first);
    assert!(is_answered_within(PATIENCE, &mut third));

    let shipped = Site::new("");
    let server = shipped.start();
    for mut stream in [(); 3].map(|()| asking(&server)) {
        assert!(is_answered_within(PATIENCE, &mut stream));
    }
}
