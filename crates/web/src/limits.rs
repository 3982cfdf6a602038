//! How much one peer may ask of a server.

use std::time::Duration;

/// Limits of one listener. Every one of them is enforced before memory for the excess is taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Connections open at once. When most are taken, idle ones are closed for further ones, which
    /// wait if none is idle. When too many wait, the newest of the address with the most is closed.
    pub connections_max: usize,
    /// Connections open at once of one address of IPv4, or one /64 of IPv6; 0 is any number.
    pub connections_per_address: usize,
    /// From the accepted connection to its first byte.
    pub first_byte: Duration,
    /// From the first byte of a request to the end of its head, however it trickles.
    pub header: Duration,
    /// Between an answer and the next request on a connection that is kept alive.
    pub idle: Duration,
    /// From the first wait for a body to its end.
    pub body: Duration,
    /// Without the peer taking a single byte of an answer that is ready for it. Also the time over
    /// which it has to take 1 KiB per second while answers are ready for it.
    pub write_stall: Duration,
    /// From the request to stop until connections that are still busy are cut.
    pub drain: Duration,
    /// Bytes of a request body, as sent; content codings are refused.
    pub body_bytes_max: usize,
    /// Header lines of a request; hyper parses at most 100 without taking heap memory.
    pub headers_max: usize,
    /// Bytes of a request head, with the request line and line ends.
    pub head_bytes_max: usize,
}

/// Connections of this machine that find a place when all others are taken: health checks, metrics and
/// operators.
const RESERVE_MAX: usize = 32;

/// Accepted connections that wait for a place. Beyond them one is closed, so they are as many as a backlog
/// of the kernel commonly holds.
const WAITING_MIN: usize = 32;
const WAITING_MAX: usize = 1_024;

impl Limits {
    /// Connections of this machine beyond [`Limits::connections_max`].
    pub(crate) fn reserve(&self) -> usize {
        (self.connections_max / 64).clamp(1, RESERVE_MAX)
    }

    /// Accepted connections of strangers, and as many of this machine, that wait until one ends.
    pub(crate) fn waiting_max(&self) -> usize {
        (self.connections_max / 8).clamp(WAITING_MIN, WAITING_MAX)
    }

    /// File descriptors that connections take at most.
    pub fn descriptors_max(&self) -> usize {
        self.connections_max + self.reserve() + 2 * self.waiting_max()
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            // Measured: 5 KiB each while idle, 16 KiB while in use. Needs as many file descriptors.
            connections_max: 10_000,
            // Thousands of phones share the address of their carrier.
            connections_per_address: 0,
            first_byte: Duration::from_secs(10),
            header: Duration::from_secs(10),
            // Longer than the 60 s at which common proxies give up theirs, so that the proxy
            // closes first and never sends into a connection that is being closed.
            idle: Duration::from_secs(75),
            body: Duration::from_secs(10),
            write_stall: Duration::from_secs(30),
            drain: Duration::from_secs(10),
            body_bytes_max: 64 * 1024,
            headers_max: 100,
            head_bytes_max: 16 * 1024,
        }
    }
}
