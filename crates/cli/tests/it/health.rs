//! `ropeline health`.

use std::{
    io::{Read, Write},
    net::TcpListener,
    thread,
};

use crate::{Shell, process::Site, still::STILL_ROOM};

#[test]
fn a_running_server_is_ready_and_a_stopped_one_is_not() {
    let site = Site::new(STILL_ROOM);
    let server = site.start();
    let url = format!("http://{}", site.address());
    let ready = format!("{url} is ready\n");
    assert_eq!(
        Shell::new().ropeline(&format!("health {url}")).result(),
        ready
    );
    assert_eq!(site.ropeline("health").result(), ready, "by the settings");
    server.kill();
    let complaint = Shell::new().ropeline(&format!("health {url}")).complaint(1);
    let expected = format!(
        "ropeline: cannot reach {url}: connection refused; is `ropeline serve` running there?\n"
    );
    assert_eq!(complaint, expected);
}

#[test]
fn something_else_that_listens_there_is_not_ready() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("a bound socket");
    let other = thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("the question");
        let mut head = [0; 1024];
        assert!(stream.read(&mut head).expect("the question") > 0);
        let answer = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello";
        stream.write_all(answer.as_bytes()).expect("a listener");
    });
    let line = format!("health http://{address}");
    let complaint = Shell::new().ropeline(&line).complaint(1);
    assert!(
        complaint.contains("answers, but not as Ropeline does"),
        "{complaint}"
    );
    other.join().expect("it answered");
}

#[test]
fn what_is_no_address_is_a_usage_error() {
    let complaint = Shell::new().ropeline("health 127.0.0.1:8080").complaint(2);
    assert!(
        complaint.contains("must begin with http:// or https://"),
        "{complaint}"
    );
}
