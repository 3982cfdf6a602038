//! How long the server waits for a peer: beside one with a short limit, one as shipped goes on waiting.

use std::{
    io::{ErrorKind, Read, Write},
    net::TcpStream,
    time::Duration,
};

use ropeline_testing::http::{Ask, Client};

use crate::{
    life::UnfinishedJoin,
    process::{Server, Site},
    wait::{Stopwatch, until},
};

const SHORT: Duration = Duration::from_millis(200);
/// Shorter than every shipped limit, so that none of these can be taken for the short one.
const PATIENCE: Duration = Duration::from_secs(5);

/// A server in whose settings one limit is short, and one as shipped.
fn impatient_and_shipped(limit: &str) -> [(Site, Server); 2] {
    let short = format!("[limits]\n{limit} = '{}ms'\n", SHORT.as_millis());
    [&short, ""].map(|settings| {
        let site = Site::new(settings);
        let server = site.start();
        (site, server)
    })
}

/// A connection on which a peer has sent this and nothing more.
fn peer(server: &Server, begun: &str) -> TcpStream {
    let mut stream = TcpStream::connect(server.address()).expect("a server");
    let set = stream.set_read_timeout(Some(PATIENCE));
    set.expect("an open socket");
    let sent = stream.write_all(begun.as_bytes());
    sent.expect("an open socket");
    stream
}

/// What a peer is told before its connection is closed, which only the short limit can be the reason of.
fn told_at_the_end(limit: &str, begun: &str) -> String {
    let [(_site, impatient), (_shipped_site, shipped)] = impatient_and_shipped(limit);
    let watch = Stopwatch::start();
    let (mut closed, mut open) = (peer(&impatient, begun), peer(&shipped, begun));
    let mut told = String::new();
    let end = closed.read_to_string(&mut told);
    end.expect("an orderly end in time");
    let elapsed = watch.elapsed();
    assert!(elapsed >= SHORT, "{limit}: after {elapsed:?}");
    assert!(is_open(&mut open), "{limit}");
    told
}

/// Whether the server has not closed the connection, whatever it has said on it.
fn is_open(stream: &mut TcpStream) -> bool {
    stream.set_nonblocking(true).expect("an open socket");
    loop {
        match stream.read(&mut [0; 1_024]) {
            Ok(0) => return false,
            Ok(_) => {}
            Err(error) => return error.kind() == ErrorKind::WouldBlock,
        }
    }
}

#[test]
fn a_silent_connection_is_closed_after_first_byte() {
    assert_eq!(told_at_the_end("first_byte", ""), "");
}

#[test]
fn a_head_that_does_not_end_is_refused_after_header() {
    let told = told_at_the_end("header", "GET /healthz HTTP/1.1\r\nHo");
    assert!(told.starts_with("HTTP/1.1 408 "), "{told}");
}

#[test]
fn a_body_that_does_not_come_is_refused_after_body() {
    let told = told_at_the_end(
        "body",
        "POST /api/v1/queue/tokens HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         Content-Length: 9\r\n\r\n{",
    );
    assert!(told.starts_with("HTTP/1.1 408 "), "{told}");
}

#[test]
fn a_connection_is_kept_for_another_request_for_idle() {
    let told = told_at_the_end("idle", "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert!(told.starts_with("HTTP/1.1 200 "), "{told}");
    assert_eq!(told.matches("HTTP/1.1").count(), 1, "{told}");
}

/// Open connections, beside the one that asks.
fn connections(client: &mut Client) -> u64 {
    let metrics = client.send(&Ask::get("/metrics"));
    let metrics = String::from_utf8(metrics.body).expect("text");
    let open = metrics
        .lines()
        .find_map(|line| line.strip_prefix("ropeline_http_connections "));
    let open: Option<u64> = open.and_then(|count| count.parse().ok());
    open.unwrap_or_else(|| panic!("not counted: {metrics}")) - 1
}

#[test]
fn a_peer_that_takes_no_byte_is_cut_off_after_write_stall() {
    let [(_site, impatient), (_shipped_site, shipped)] = impatient_and_shipped("write_stall");
    let [mut of_impatient, mut of_shipped] = [&impatient, &shipped].map(Server::client);
    // More answers than the system keeps for a peer that does not read.
    let many = "GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(1_000);
    let watch = Stopwatch::start();
    let _peers = [&impatient, &shipped].map(|server| peer(server, &many));
    until(PATIENCE, "the other peer is connected", || {
        (connections(&mut of_shipped) == 1).then_some(())
    });
    until(PATIENCE, "the peer is cut off", || {
        let is_cut = watch.elapsed() >= SHORT && connections(&mut of_impatient) == 0;
        is_cut.then_some(())
    });
    assert_eq!(connections(&mut of_shipped), 1);
}

#[test]
fn what_is_still_running_after_drain_is_cut() {
    for drain in ["200ms", "0s"] {
        let site = Site::new(&format!("[limits]\ndrain = '{drain}'\n"));
        let mut server = site.start();
        let _join = UnfinishedJoin::send(peer(&server, ""));
        server.terminate();
        server.ended_within(PATIENCE);
        let log = server.stderr();
        assert!(log.contains("have been cut"), "{drain}: {log}");
    }
}
