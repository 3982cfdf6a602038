//! How much one peer may ask of a server.

use std::time::Duration;

/// Limits of one listener. Every one of them is enforced before memory for the excess is taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Connections open at once; further ones wait in the kernel's backlog until one ends.
    pub connections_max: usize,
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

impl Default for Limits {
    fn default() -> Self {
        Self {
            // Measured: 5 KiB each while idle, 16 KiB while in use. Needs as many file descriptors.
            connections_max: 10_000,
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
