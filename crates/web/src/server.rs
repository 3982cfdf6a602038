//! A router, and what surrounds it on one listener.

use std::{
    future::Future,
    io,
    net::SocketAddr,
    sync::{Arc, atomic::Ordering::Relaxed},
    time::Duration,
};

use axum::Router;
use tokio::net::{TcpListener, TcpSocket};

use crate::{
    EventLoops, Limits, Observe, OpenConnections, Tasks, TrustedProxies,
    acceptor::Acceptor,
    occupancy::{Occupancy, Privileged},
    service::{Hosts, Service, Shortcut},
};

/// What connections may take beyond their time to drain, to let go of what they hold.
const DRAIN_GRACE: Duration = Duration::from_secs(1);

/// Connections that may wait to be accepted. The usual 128 are gone in the first moment of a rush, and who
/// does not fit in is not refused but tries again a second later.
const BACKLOG: u32 = 4_096;

/// Listens on an address, ready for a crowd.
pub fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    bind(address)?.listen()
}

/// Takes an address, on which [`Bound::listen`] listens later: an address in use is known before anything else
/// is done, and until then clients are refused rather than left to wait.
pub fn bind(address: SocketAddr) -> io::Result<Bound> {
    let socket = if address.is_ipv4() {
        TcpSocket::new_v4()
    } else {
        TcpSocket::new_v6()
    }?;
    // A restart must not wait until the last connection of the earlier process is forgotten.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    Ok(Bound(socket))
}

/// An address that was free when it was bound.
#[derive(Debug)]
pub struct Bound(TcpSocket);

impl Bound {
    /// The address, with the port that the system chose where none was asked for.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.0.local_addr()
    }

    /// Takes connections. It fails if another process has begun to listen there meanwhile.
    pub fn listen(self) -> io::Result<TcpListener> {
        self.0.listen(BACKLOG)
    }
}

/// A router and the limits within which it is served.
pub struct Server {
    router: Router,
    shortcut: Option<Box<dyn Shortcut>>,
    limits: Limits,
    origins: Vec<String>,
    hosts: Hosts,
    slashes_after: Option<&'static str>,
    observer: Option<Box<dyn Observe>>,
    loops: Option<Arc<EventLoops>>,
    privileged: Privileged,
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
            hosts: Hosts::any(),
            slashes_after: None,
            observer: None,
            loops: None,
            privileged: Privileged::default(),
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

    /// Answers only requests to these hosts; any host if not called.
    #[must_use]
    pub fn hosts(mut self, hosts: Hosts) -> Self {
        self.hosts = hosts;
        self
    }

    /// Lets the segment of a path that follows this one have encoded slashes: an id that sites choose as they like.
    #[must_use]
    pub fn encoded_slashes_after(mut self, segment: &'static str) -> Self {
        self.slashes_after = Some(segment);
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

    /// Never closes idle connections of these to make room for others: each serves many visitors.
    #[must_use]
    pub fn proxies(mut self, proxies: TrustedProxies) -> Self {
        self.privileged.proxies = proxies;
        self
    }

    /// Keeps the reserve of connections for these networks instead of the loopback addresses.
    #[must_use]
    pub fn this_machine(mut self, networks: TrustedProxies) -> Self {
        self.privileged.this_machine = Some(networks);
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
        let accepting = self.acceptor(tasks.clone());
        let cut = accepting.cut();
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

    fn acceptor(self, tasks: Tasks) -> Acceptor {
        let Self {
            router,
            shortcut,
            limits,
            origins,
            hosts,
            slashes_after,
            observer,
            loops,
            privileged,
            open,
        } = self;
        let occupancy = Occupancy::new(&limits, privileged, open);
        let service = Service::new(
            router,
            shortcut,
            limits,
            origins,
            hosts,
            slashes_after,
            observer,
        );
        Acceptor::new(service, occupancy, loops, tasks)
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
