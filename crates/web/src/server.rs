//! The accept loop.

use std::{
    future::Future,
    io,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

use axum::Router;
use hyper::server::conn::http1;
use tokio::{
    net::{TcpListener, TcpSocket, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
    time::sleep,
};

use crate::{
    EventLoops, Limits, Observe, Tasks,
    connection::{self, End},
    service::{Service, Shortcut},
};

/// First and last pause after a failed accept, as when the process is out of file descriptors.
const BACK_OFF: Duration = Duration::from_millis(10);
const BACK_OFF_MAX: Duration = Duration::from_secs(1);

/// What connections may take beyond their time to drain, to let go of what they hold.
const DRAIN_GRACE: Duration = Duration::from_secs(1);

/// Smallest read buffer that hyper allows, and so what a head gets beyond its own limit.
const BUFFER_SLACK: usize = 8 * 1024;

/// Connections that may wait to be accepted. The usual 128 are gone in the first moment of a rush, and who
/// does not fit in is not refused but tries again a second later.
const BACKLOG: u32 = 4_096;

/// Listens on an address, ready for a crowd.
pub fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() {
        TcpSocket::new_v4()
    } else {
        TcpSocket::new_v6()
    }?;
    // A restart must not wait until the last connection of the process before is forgotten.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// A router and the limits within which it is served.
pub struct Server {
    router: Router,
    shortcut: Option<Box<dyn Shortcut>>,
    limits: Limits,
    origins: Vec<String>,
    observer: Option<Box<dyn Observe>>,
    loops: Option<Arc<EventLoops>>,
    open: OpenConnections,
}

impl Server {
    /// A server for one listener.
    pub fn new(router: Router, limits: Limits) -> Self {
        Self {
            router,
            shortcut: None,
            limits,
            origins: Vec::new(),
            observer: None,
            loops: None,
            open: OpenConnections::default(),
        }
    }

    /// Takes requests that change something from pages of these origins too, as browsers name them.
    /// Pages that are served under the host of the request need not be listed.
    #[must_use]
    pub fn origins(mut self, origins: Vec<String>) -> Self {
        self.origins = origins;
        self
    }

    /// Asks `shortcut` before the router.
    #[must_use]
    pub fn shortcut(mut self, shortcut: impl Shortcut) -> Self {
        self.shortcut = Some(Box::new(shortcut));
        self
    }

    /// Tells `observer` of every answer.
    #[must_use]
    pub fn observe(mut self, observer: impl Observe) -> Self {
        self.observer = Some(Box::new(observer));
        self
    }

    /// Lets these serve connections, in the place of the runtime on which [`Server::serve`] runs.
    #[must_use]
    pub fn by(mut self, loops: Arc<EventLoops>) -> Self {
        self.loops = Some(loops);
        self
    }

    /// A gauge that can be read while the server runs.
    pub fn open_connections(&self) -> OpenConnections {
        self.open.clone()
    }

    /// Serves until `shutdown` resolves, then lets requests in progress finish.
    ///
    /// Returns at the latest [`Limits::drain`] and one second after `shutdown`.
    pub async fn serve(self, listener: TcpListener, shutdown: impl Future<Output = ()>) -> Report {
        let drain = self.limits.drain;
        let open = self.open.clone();
        let tasks = Tasks::new();
        let accepting = Acceptor::new(self, tasks.clone());
        let cut = Arc::clone(&accepting.cut);
        tokio::select! {
            biased;
            () = shutdown => {}
            never = accepting.run(listener) => match never {},
        }
        tasks.stop();
        let stuck = tasks.finish(drain + DRAIN_GRACE).await;
        debug_assert!(stuck <= open.get());
        Report {
            cut: cut.load(Relaxed) + stuck,
        }
    }
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server")
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

/// What became of the connections of a server that has stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// Connections that were still busy when the time to drain was over.
    pub cut: usize,
}

/// How many connections of one server are open.
#[derive(Clone, Debug, Default)]
pub struct OpenConnections(Arc<AtomicUsize>);

impl OpenConnections {
    /// The number now.
    pub fn get(&self) -> usize {
        self.0.load(Relaxed)
    }

    fn enter(&self) -> Entry {
        self.0.fetch_add(1, Relaxed);
        Entry(self.clone())
    }
}

/// One open connection; counted until dropped, also by a panic.
struct Entry(OpenConnections);

impl Drop for Entry {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Relaxed);
    }
}

struct Acceptor {
    service: Arc<Service>,
    http: http1::Builder,
    slots: Arc<Semaphore>,
    loops: Option<Arc<EventLoops>>,
    open: OpenConnections,
    cut: Arc<AtomicUsize>,
    tasks: Tasks,
}

impl Acceptor {
    fn new(server: Server, tasks: Tasks) -> Self {
        let Server {
            router,
            shortcut,
            limits,
            origins,
            observer,
            loops,
            open,
        } = server;
        Self {
            http: http(&limits),
            slots: Arc::new(Semaphore::new(limits.connections_max)),
            service: Arc::new(Service::new(router, shortcut, limits, origins, observer)),
            loops,
            open,
            cut: Arc::default(),
            tasks,
        }
    }

    async fn run(&self, listener: TcpListener) -> std::convert::Infallible {
        let mut failures = 0;
        loop {
            // Taken first, so that a connection beyond the limit is never accepted.
            let slot = Arc::clone(&self.slots).acquire_owned().await;
            let slot = slot.expect("nobody closes this semaphore");
            match listener.accept().await {
                Ok((stream, peer)) => {
                    failures = 0;
                    self.spawn(stream, peer, slot);
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
            }
        }
    }

    fn spawn(&self, stream: TcpStream, peer: SocketAddr, slot: OwnedSemaphorePermit) {
        let entry = self.open.enter();
        let service = Arc::clone(&self.service);
        let http = self.http.clone();
        let cut = Arc::clone(&self.cut);
        let stop = self.tasks.stop_word();
        let serve = async move |stream: TcpStream| {
            // A socket whose options cannot be set is gone, as its first read will say.
            stream.set_nodelay(true).ok();
            if connection::run(stream, peer, service, http, stop).await == End::Cut {
                cut.fetch_add(1, Relaxed);
            }
            drop((slot, entry));
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
