//! One connection, from the accepted socket to its end.
//!
//! hyper has one time limit for a head, which runs from the end of the answer before it and so
//! cannot tell a silent peer, a slow one and an idle one apart. Here one timer per connection
//! watches what the connection is waiting for. An idle connection gives its buffers back: hyper is
//! set up anew when the next byte arrives.

mod chunks;
mod framing;
mod io;
mod link;
mod pace;

use std::{
    future::poll_fn,
    net::SocketAddr,
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll, Waker},
    time::Duration,
};

use axum::response::Response;
use http_body_util::BodyExt;
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::{Instant, Sleep, sleep_until, timeout, timeout_at},
};
use tokio_util::sync::{CancellationToken, WaitForCancellationFuture};

use self::{
    framing::Refusal,
    io::Io,
    link::{Handler, Link, Phase},
    pace::Pace,
};
use crate::{
    Limits,
    occupancy::{Activity, Wait},
    service::Service,
    tasks::StopWord,
};

/// How long an idle connection keeps its buffers, for requests that follow each other closely.
const PARK_AFTER: Duration = Duration::from_secs(1);

/// How long a request goes on after the peer has closed its writing side. Most such peers are gone,
/// and the server should not work long on what they requested.
const HALF_CLOSED_MAX: Duration = Duration::from_secs(10);

/// How long, and how many bytes, a refused peer may go on sending. A socket closed with unread
/// input resets the connection, and the peer may lose the answer that says why.
const LINGER: Duration = Duration::from_secs(1);
const LINGER_BYTES_MAX: usize = 1024 * 1024;

/// How a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// By itself, or by one of its limits.
    Closed,
    /// Still busy when the time to drain was over.
    Cut,
}

/// Why a connection stopped being driven.
enum Halt {
    Ended,
    Parked {
        since: Instant,
    },
    /// Others need its place.
    Displaced,
    SlowHead,
    Stalled,
    Cut,
}

/// Serves `stream` until it ends; `stop` ends it once it has nothing to do.
pub(crate) async fn run(
    stream: TcpStream,
    peer: SocketAddr,
    service: Arc<Service>,
    http: http1::Builder,
    stop: StopWord,
    activity: &Activity,
) -> End {
    let task = poll_fn(|cx| Poll::Ready(cx.waker().clone())).await;
    activity.set_task(task);
    let limits = service.limits.clone();
    let link = Arc::new(Link::new(service, peer));
    let mut io = Io::new(stream, Arc::clone(&link));
    let mut timer = pin!(sleep_until(Instant::now()));
    let mut quiet_until = Instant::now() + limits.first_byte;
    loop {
        if !has_input(&io.stream, quiet_until, &stop.token, activity).await {
            return End::Closed;
        }
        // Until it is seen what has come.
        activity.is_busy();
        let handler = Handler(Arc::clone(&link));
        let mut connection = Box::new(http.serve_connection(TokioIo::new(io), handler));
        let mut watch = Watch {
            phase: Phase::Service,
            since: quiet_until,
            due: None,
            pace: None,
            drain_until: None,
            timer: timer.as_mut(),
            stop: &stop,
            woken: None,
            link: &link,
            limits: &limits,
            activity,
        };
        let mut stopped = pin!(stop.token.cancelled());
        let halt = poll_fn(|cx| {
            if watch.stops(stopped.as_mut(), cx) {
                Pin::new(&mut *connection).graceful_shutdown();
            }
            match Pin::new(&mut *connection).poll(cx) {
                Poll::Ready(_) => Poll::Ready(Halt::Ended),
                Poll::Pending => watch.poll(cx),
            }
        })
        .await;
        let parts = connection.into_parts();
        io = parts.io.into_inner();
        match halt {
            Halt::Parked { since } if parts.read_buf.is_empty() => {
                quiet_until = since + limits.idle;
            }
            Halt::SlowHead => return refuse(io, &link, Refusal::SLOW_HEAD).await,
            Halt::Ended => return conclude(io, &link).await,
            Halt::Parked { .. } | Halt::Displaced | Halt::Stalled => return End::Closed,
            Halt::Cut => return End::Cut,
        }
    }
}

/// Waits for the next byte without taking it. Readiness alone would not do: it may be false.
async fn has_input(
    stream: &TcpStream,
    until: Instant,
    stop: &CancellationToken,
    activity: &Activity,
) -> bool {
    let mut first = [0];
    // Whoever tells it to close wakes the task.
    let displaced = poll_fn(|_| {
        if activity.has_to_close() {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    });
    tokio::select! {
        biased;
        () = stop.cancelled() => false,
        peeked = timeout_at(until, stream.peek(&mut first)) => matches!(peeked, Ok(Ok(1))),
        () = displaced => false,
    }
}

/// The timer of a connection that hyper is driving.
struct Watch<'a> {
    phase: Phase,
    since: Instant,
    due: Option<Instant>,
    /// Begun when answers first waited for the peer; ended when none does.
    pace: Option<Pace>,
    drain_until: Option<Instant>,
    timer: Pin<&'a mut Sleep>,
    stop: &'a StopWord,
    /// Who is woken by the request to stop.
    woken: Option<Waker>,
    link: &'a Link,
    limits: &'a Limits,
    activity: &'a Activity,
}

impl Watch<'_> {
    /// Whether the request to stop has come just now.
    fn stops(
        &mut self,
        stopped: Pin<&mut WaitForCancellationFuture<'_>>,
        cx: &mut Context<'_>,
    ) -> bool {
        if self.drain_until.is_some() {
            return false;
        }
        // It takes locks to ask whether it has come, so that is done only to be woken by it.
        let woken = self.woken.as_ref();
        if woken.is_some_and(|woken| woken.will_wake(cx.waker())) && !self.stop.was_said() {
            return false;
        }
        if stopped.poll(cx).is_pending() {
            self.woken = Some(cx.waker().clone());
            return false;
        }
        self.drain_until = Some(Instant::now() + self.limits.drain);
        true
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Halt> {
        self.observe();
        if self.drain_until.is_some() && matches!(self.phase, Phase::Idle { .. }) {
            return Poll::Ready(Halt::Ended);
        }
        if self.activity.has_to_close() {
            return Poll::Ready(Halt::Displaced);
        }
        while let Some(due) = earlier(self.due, self.drain_until) {
            // The timer is moved forward only once it fires: a connection in use would otherwise
            // move it with every request.
            if due < self.timer.deadline() || self.timer.is_elapsed() {
                self.timer.as_mut().reset(due);
            }
            if self.timer.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
            if due <= self.timer.deadline()
                && let Some(halt) = self.expired(due)
            {
                return Poll::Ready(halt);
            }
        }
        Poll::Pending
    }

    fn observe(&mut self) {
        let phase = self.link.phase();
        if phase == self.phase {
            return;
        }
        self.phase = phase;
        let limit = match phase {
            Phase::Idle { .. } => self.limits.idle.min(PARK_AFTER),
            Phase::Head { .. } => self.limits.header,
            Phase::HalfClosed => HALF_CLOSED_MAX,
            Phase::Blocked { written } => return self.observe_blocked(written),
            Phase::Body { .. } => {
                self.activity.waits_since(Instant::now(), Wait::Body);
                return self.wait_for_service();
            }
            Phase::Service => {
                self.activity.is_busy();
                return self.wait_for_service();
            }
        };
        self.since = Instant::now();
        self.due = Some(self.since + limit);
        self.pace = None;
        match phase {
            Phase::HalfClosed => self.activity.is_busy(),
            _ => self.activity.waits_since(self.since, Wait::Request),
        }
    }

    /// Handlers, and bodies, keep their own time.
    fn wait_for_service(&mut self) {
        self.due = None;
        self.pace = None;
    }

    fn observe_blocked(&mut self, written: u64) {
        let now = Instant::now();
        let pace = self.pace.get_or_insert_with(|| Pace::begin(now, written));
        self.since = now;
        self.due = Some(pace.since + self.limits.write_stall);
        self.activity.waits_since(now, Wait::Answer);
    }

    /// Why the connection ends at `due`, if it does.
    fn expired(&mut self, due: Instant) -> Option<Halt> {
        if self.drain_until == Some(due) {
            return Some(Halt::Cut);
        }
        match self.phase {
            Phase::Idle { .. } => Some(Halt::Parked { since: self.since }),
            Phase::Head { .. } => Some(Halt::SlowHead),
            Phase::Blocked { written } => self.slow_reader(due, written),
            Phase::HalfClosed | Phase::Body { .. } | Phase::Service => Some(Halt::Stalled),
        }
    }

    /// Whether the peer has taken nothing lately, or too little until `due`.
    fn slow_reader(&mut self, due: Instant, written: u64) -> Option<Halt> {
        let stalled = self.since + self.limits.write_stall;
        self.pace = self.pace.and_then(|pace| pace.next(due, written));
        self.due = Some(stalled);
        (self.pace.is_none() || stalled <= due).then_some(Halt::Stalled)
    }
}

fn earlier(one: Option<Instant>, other: Option<Instant>) -> Option<Instant> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

/// hyper is done with the socket; says why if nobody has yet.
async fn conclude(io: Io, link: &Link) -> End {
    match io.refusal {
        Some(refusal) if !link.answer_is_due() => refuse(io, link, refusal).await,
        None if io.framing.in_message() => linger(io.stream).await,
        _ => End::Closed,
    }
}

async fn refuse(mut io: Io, link: &Link, refusal: Refusal) -> End {
    let answer = encode(link.service.refuse(refusal.to_problem())).await;
    match timeout(LINGER, io.stream.write_all(&answer)).await {
        Ok(Ok(())) => linger(io.stream).await,
        _ => End::Closed,
    }
}

async fn linger(mut stream: TcpStream) -> End {
    let drained = async {
        stream.shutdown().await?;
        let mut bytes_left = LINGER_BYTES_MAX;
        let mut scrap = [0; 1024];
        while bytes_left > 0 {
            match stream.read(&mut scrap).await? {
                0 => break,
                read => bytes_left = bytes_left.saturating_sub(read),
            }
        }
        std::io::Result::Ok(())
    };
    // Whatever happens here, the connection is over.
    timeout(LINGER, drained).await.ok();
    End::Closed
}

/// The answer as bytes, for a connection that hyper no longer drives.
async fn encode(response: Response) -> Vec<u8> {
    let (parts, body) = response.into_parts();
    let mut bytes = format!("HTTP/1.1 {}\r\n", parts.status).into_bytes();
    for (name, value) in &parts.headers {
        bytes.extend_from_slice(name.as_str().as_bytes());
        bytes.extend_from_slice(b": ");
        bytes.extend_from_slice(value.as_bytes());
        bytes.extend_from_slice(b"\r\n");
    }
    bytes.extend_from_slice(b"\r\n");
    if let Ok(body) = body.collect().await {
        bytes.extend_from_slice(&body.to_bytes());
    }
    bytes
}
