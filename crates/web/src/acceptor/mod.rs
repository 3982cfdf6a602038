//! The accept loop.

mod waiting;

use std::{
    convert::Infallible,
    future::pending,
    io,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

use hyper::server::conn::http1;
use tokio::{
    net::{TcpListener, TcpStream},
    time::sleep,
};

use self::waiting::{Line, Waiting};
use crate::{
    EventLoops, Limits, Tasks,
    connection::{self, End},
    occupancy::{Admission, Occupancy, Place},
    service::Service,
};

/// First and last pause after a failed accept, as when the process is out of file descriptors.
const BACK_OFF: Duration = Duration::from_millis(10);
const BACK_OFF_MAX: Duration = Duration::from_secs(1);

/// Smallest read buffer that hyper allows, and so what a head gets beyond its own limit.
const BUFFER_SLACK: usize = 8 * 1024;

/// How often idle connections are looked for while many are open, and while newcomers wait for a place.
const LOOK_EVERY: Duration = Duration::from_millis(250);
const LOOK_EVERY_WHEN_FULL: Duration = Duration::from_millis(50);

/// Accepts connections, and hands each to the runtime that serves it.
pub(crate) struct Acceptor {
    service: Arc<Service>,
    http: http1::Builder,
    occupancy: Arc<Occupancy>,
    loops: Option<Arc<EventLoops>>,
    cut: Arc<AtomicUsize>,
    tasks: Tasks,
}

impl Acceptor {
    pub(crate) fn new(
        service: Service,
        occupancy: Occupancy,
        loops: Option<Arc<EventLoops>>,
        tasks: Tasks,
    ) -> Self {
        Self {
            http: http(&service.limits),
            service: Arc::new(service),
            occupancy: Arc::new(occupancy),
            loops,
            cut: Arc::default(),
            tasks,
        }
    }

    /// How many connections were still busy when the time to drain was over.
    pub(crate) fn cut(&self) -> Arc<AtomicUsize> {
        Arc::clone(&self.cut)
    }

    pub(crate) async fn run(&self, listener: TcpListener) -> Infallible {
        let mut waiting = Waiting::new(self.service.limits.waiting_max());
        let mut failures = 0;
        let mut crowded = false;
        loop {
            let look = match (waiting.len(), crowded) {
                (1.., _) => Some(LOOK_EVERY_WHEN_FULL),
                (0, true) => Some(LOOK_EVERY),
                (0, false) => None,
            };
            tokio::select! {
                accepted = listener.accept() => match accepted {
                    Ok((stream, peer)) => {
                        failures = 0;
                        self.take(stream, peer, &mut waiting);
                    }
                    // The peer gave up while it was in the backlog.
                    Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
                    Err(error) => {
                        if failures == 0 {
                            tracing::warn!(%error, "connections cannot be accepted; trying again");
                        }
                        sleep(back_off(failures)).await;
                        failures += 1;
                    }
                },
                () = self.occupancy.freed(), if waiting.len() > 0 => {
                    self.serve_waiting(&mut waiting);
                }
                () = after(look) => self.serve_waiting(&mut waiting),
            }
            waiting.sweep();
            crowded = self.occupancy.make_room(waiting.len());
        }
    }

    /// Serves a new connection, or lets it wait behind the others.
    fn take(&self, stream: TcpStream, address: SocketAddr, waiting: &mut Waiting) {
        let peer = self.occupancy.peer(address.ip());
        let admission = if waiting.is_empty(Line::of(peer)) {
            self.occupancy.admit(peer)
        } else {
            Admission::Full
        };
        match admission {
            Admission::Open(place) => self.spawn(stream, address, place),
            Admission::Full => waiting.push(stream, address, peer),
            Admission::TooMany => {}
        }
    }

    fn serve_waiting(&self, waiting: &mut Waiting) {
        for line in [Line::OfThisMachine, Line::OfOthers] {
            while let Some(entry) = waiting.pop(line) {
                match self.occupancy.admit(entry.peer) {
                    Admission::Open(place) => self.spawn(entry.stream, entry.address, place),
                    Admission::Full => {
                        waiting.put_back(entry);
                        break;
                    }
                    Admission::TooMany => {}
                }
            }
        }
    }

    fn spawn(&self, stream: TcpStream, peer: SocketAddr, place: Place) {
        let service = Arc::clone(&self.service);
        let http = self.http.clone();
        let cut = Arc::clone(&self.cut);
        let stop = self.tasks.stop_word();
        let serve = async move |stream: TcpStream| {
            // A socket whose options cannot be set is gone, as its first read will say.
            stream.set_nodelay(true).ok();
            let activity = place.activity();
            let end = connection::run(stream, peer, service, http, stop, activity).await;
            if end == End::Cut {
                cut.fetch_add(1, Relaxed);
            }
            drop(place);
        };
        let Some(loops) = &self.loops else {
            self.tasks.spawn(serve(stream));
            return;
        };
        // One that cannot be handed over is gone, too.
        if let Ok(stream) = stream.into_std() {
            self.tasks.spawn_on(loops.idlest(), async move {
                if let Ok(stream) = TcpStream::from_std(stream) {
                    serve(stream).await;
                }
            });
        }
    }
}

async fn after(pause: Option<Duration>) {
    match pause {
        Some(pause) => sleep(pause).await,
        None => pending().await,
    }
}

fn http(limits: &Limits) -> http1::Builder {
    let mut http = http1::Builder::new();
    http.header_read_timeout(None)
        // Answers are small: one copy is cheaper than telling the kernel of two pieces.
        .writev(false)
        .max_buf_size(limits.head_bytes_max + BUFFER_SLACK);
    // Above 100, hyper takes heap memory for every head.
    if limits.headers_max > 100 {
        http.max_headers(limits.headers_max);
    }
    http
}

fn back_off(failures: u32) -> Duration {
    BACK_OFF
        .saturating_mul(1 << failures.min(10))
        .min(BACK_OFF_MAX)
}
