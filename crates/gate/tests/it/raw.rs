//! A server that answers exactly what it is told, for answers that no room would give.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
};

/// What is done on each connection, in the order of requests.
#[derive(Debug, Clone)]
pub(crate) enum Turn {
    /// These bytes.
    Say(String),
    /// Nothing, and the connection stays.
    KeepSilent,
    /// Nothing, and the connection ends.
    HangUp,
}

pub(crate) struct Raw {
    pub(crate) address: SocketAddr,
    heads: Arc<Mutex<Vec<String>>>,
}

impl Raw {
    /// Takes the turns one by one, over all connections, and the last one for ever.
    pub(crate) fn taking(turns: Vec<Turn>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let heads = Arc::<Mutex<Vec<String>>>::default();
        let shared = Arc::clone(&heads);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (turns, heads) = (turns.clone(), Arc::clone(&shared));
                thread::spawn(move || serve(stream.unwrap(), &turns, &heads));
            }
        });
        Self { address, heads }
    }

    pub(crate) fn saying(answer: &str) -> Self {
        Self::taking(vec![Turn::Say(answer.to_owned())])
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The heads of the requests that came.
    pub(crate) fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap().clone()
    }
}

fn serve(mut stream: TcpStream, turns: &[Turn], heads: &Mutex<Vec<String>>) {
    while let Some(head) = request(&mut stream) {
        let turn = {
            let mut heads = heads.lock().unwrap();
            heads.push(head);
            turns[(heads.len() - 1).min(turns.len() - 1)].clone()
        };
        match turn {
            // A client that does not listen any more is not this side's trouble.
            Turn::Say(answer) => drop(stream.write_all(answer.as_bytes())),
            Turn::KeepSilent => {}
            Turn::HangUp => return,
        }
    }
}

/// Reads one request; its head.
fn request(stream: &mut TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    let head = loop {
        let mut byte = [0];
        stream.read_exact(&mut byte).ok()?;
        bytes.push(byte[0]);
        if bytes.ends_with(b"\r\n\r\n") {
            break String::from_utf8_lossy(&bytes).to_lowercase();
        }
    };
    let length = head.split("content-length: ").nth(1);
    let length = length.and_then(|rest| rest.lines().next()?.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    stream.read_exact(&mut body).ok()?;
    Some(head)
}

/// A whole answer.
pub(crate) fn answer(status: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\n{headers}\r\n{body}")
}
