//! The load generator: closed loops over connections that are kept alive.
//!
//! One thread waits for all connections at once and does nothing but send and receive, since what the generator
//! takes of the machine the servers do not have: a dear one makes all of them look alike.

use std::{
    fs,
    io::{ErrorKind, Read as _, Write as _},
    net::SocketAddr,
    ops::Range,
    process::Command,
    thread,
    time::{Duration, Instant},
};

use mio::{Events, Interest, Poll, Token, net::TcpStream};

use super::{
    client::{ANSWER_BYTES_MAX, Head},
    requests::Requests,
};
use crate::{
    Result,
    stats::{self, Tally},
};

/// Whoever does not answer by then never will. `KEYS` on a busy machine takes its time.
const ANSWER_WITHIN: Duration = Duration::from_secs(120);

/// Every connection sends its next request as soon as it has the answer to the last.
pub(crate) fn run(
    address: SocketAddr,
    requests: &Requests,
    connections: usize,
    length: Duration,
) -> Result<Tally> {
    as_batch(|| {
        let mut crowd = Crowd::connect(address, connections)?;
        let started = Instant::now();
        let mut asking = Asking {
            requests: requests.clone(),
            end: started + length,
            waits: Vec::with_capacity(64 * 1024),
        };
        crowd.talk(&mut asking, started)?;
        Ok(Tally {
            waits: asking.waits,
            elapsed: started.elapsed(),
        })
    })
}

/// Runs `load` on a thread that takes its turn (`SCHED_BATCH`). By default a thread that was woken by an answer may push
/// the server that sent it off the processor, and does so the more often, the longer it has waited. The machines of
/// visitors, for which the generator stands, do nothing of the kind.
fn as_batch<T: Send>(load: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    let run = || {
        let thread = fs::read_link("/proc/thread-self")?;
        let id = thread.file_name().ok_or("this thread has no number")?;
        let mut chrt = Command::new("chrt");
        let chrt = chrt.args(["--batch", "--pid", "0"]).arg(id);
        match chrt.status() {
            Ok(status) if status.success() => load(),
            Ok(_) => Err("chrt cannot make a thread a batch".into()),
            Err(error) => Err(format!("chrt, which is part of util-linux: {error}").into()),
        }
    };
    let ended = thread::scope(|scope| scope.spawn(run).join());
    ended.unwrap_or_else(|_| Err("the load generator panicked".into()))
}

/// Sends joins as fast as their answers come, and keeps the token of every so many.
#[derive(Debug)]
pub(crate) struct Filler {
    pub(crate) address: SocketAddr,
    pub(crate) joins: Requests,
    pub(crate) connections: usize,
    pub(crate) keep_every: u64,
}

impl Filler {
    /// The joins with these numbers, spread over the connections.
    pub(crate) fn fill(&self, numbers: Range<u64>) -> Result<Vec<String>> {
        let mut joining = Joining {
            joins: self.joins.clone(),
            numbers,
            keep_every: self.keep_every,
            answers: 0,
            tokens: Vec::new(),
        };
        as_batch(|| {
            let mut crowd = Crowd::connect(self.address, self.connections)?;
            crowd.talk(&mut joining, Instant::now())?;
            Ok(joining.tokens)
        })
    }
}

/// What a crowd asks, and what becomes of the answers.
trait Talk {
    /// `None` when there is nothing more to ask.
    fn ask(&mut self, now: Instant) -> Option<&[u8]>;

    fn hear(&mut self, body: &[u8], wait: Duration) -> Result<()>;
}

struct Asking {
    requests: Requests,
    end: Instant,
    waits: Vec<u32>,
}

impl Talk for Asking {
    fn ask(&mut self, now: Instant) -> Option<&[u8]> {
        (now < self.end).then(|| self.requests.draw())
    }

    fn hear(&mut self, _: &[u8], wait: Duration) -> Result<()> {
        self.waits.push(stats::micros(wait));
        Ok(())
    }
}

struct Joining {
    joins: Requests,
    numbers: Range<u64>,
    keep_every: u64,
    answers: u64,
    tokens: Vec<String>,
}

impl Talk for Joining {
    fn ask(&mut self, _: Instant) -> Option<&[u8]> {
        let number = self.numbers.next()?;
        Some(self.joins.nth(number))
    }

    fn hear(&mut self, body: &[u8], _: Duration) -> Result<()> {
        if self.answers.is_multiple_of(self.keep_every) {
            self.tokens.push(token(body)?);
        }
        self.answers += 1;
        Ok(())
    }
}

/// Connections that are waited for together.
struct Crowd {
    poll: Poll,
    connections: Vec<Connection>,
}

struct Connection {
    stream: TcpStream,
    buffer: Box<[u8]>,
    filled: usize,
    asked_at: Instant,
}

impl Crowd {
    fn connect(address: SocketAddr, count: usize) -> Result<Self> {
        let poll = Poll::new()?;
        let mut connections = Vec::with_capacity(count);
        for number in 0..count {
            // Waiting until it is connected is simplest before it is registered.
            let stream = std::net::TcpStream::connect(address)?;
            stream.set_nodelay(true)?;
            stream.set_nonblocking(true)?;
            let mut stream = TcpStream::from_std(stream);
            let registry = poll.registry();
            registry.register(&mut stream, Token(number), Interest::READABLE)?;
            connections.push(Connection {
                stream,
                buffer: vec![0; ANSWER_BYTES_MAX].into(),
                filled: 0,
                asked_at: Instant::now(),
            });
        }
        Ok(Self { poll, connections })
    }

    /// Until there is nothing more to ask and all is answered.
    fn talk(&mut self, talk: &mut impl Talk, started: Instant) -> Result<()> {
        let mut talking = 0;
        for connection in &mut self.connections {
            talking += usize::from(connection.ask(talk, started)?);
        }
        let mut events = Events::with_capacity(self.connections.len());
        while talking > 0 {
            self.wait(&mut events)?;
            for event in &events {
                let connection = &mut self.connections[event.token().0];
                if connection.receive(talk)? && !connection.ask(talk, connection.asked_at)? {
                    talking -= 1;
                }
            }
        }
        Ok(())
    }

    fn wait(&mut self, events: &mut Events) -> Result<()> {
        match self.poll.poll(events, Some(ANSWER_WITHIN)) {
            Ok(()) if events.is_empty() => Err("no answer comes any more".into()),
            Err(error) if error.kind() != ErrorKind::Interrupted => Err(error.into()),
            _ => Ok(()),
        }
    }
}

impl Connection {
    /// Says whether there was something to ask.
    fn ask(&mut self, talk: &mut impl Talk, now: Instant) -> Result<bool> {
        let Some(request) = talk.ask(now) else {
            return Ok(false);
        };
        // The answer to the last is here, so nothing else is on its way and the buffers of the system are empty.
        self.stream.write_all(request)?;
        self.asked_at = now;
        Ok(true)
    }

    /// Says whether the answer is complete. The end of one wait is the start of the next: one look at the clock per
    /// request.
    fn receive(&mut self, talk: &mut impl Talk) -> Result<bool> {
        // Less than there is room for means that there is no more: no second read is needed to learn of it.
        match self.stream.read(&mut self.buffer[self.filled..]) {
            Ok(0) => {
                return Err("the server closed the connection, or the answer is too long".into());
            }
            Ok(read) => self.filled += read,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
            Err(error) => return Err(error.into()),
        }
        let Some(head) = Head::of_complete(&self.buffer[..self.filled])? else {
            return Ok(false);
        };
        let answered_at = Instant::now();
        let body = head.body(&self.buffer, b"a request of the load")?;
        talk.hear(body, answered_at - self.asked_at)?;
        self.filled = 0;
        self.asked_at = answered_at;
        Ok(true)
    }
}

/// A token has no character that JSON would escape.
fn token(place: &[u8]) -> Result<String> {
    let place = str::from_utf8(place)?;
    let (_, rest) = place
        .split_once(r#""token":""#)
        .ok_or("a join without a token")?;
    let (token, _) = rest.split_once('"').ok_or("a token without an end")?;
    Ok(token.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_token_is_found_in_the_place_view() {
        let found = token(br#"{"room":"main","token":"a.b.c","ordinal":1}"#).expect("it is there");
        assert_eq!(found, "a.b.c");
        assert!(token(br#"{"room":"main"}"#).is_err());
    }
}
