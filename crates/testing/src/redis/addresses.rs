//! Loopback addresses of a group's own.

use std::{
    net::{Ipv4Addr, SocketAddrV4, TcpListener},
    os::{
        linux::net::SocketAddrExt,
        unix::net::{SocketAddr, UnixListener},
    },
    sync::atomic::{AtomicU32, Ordering},
};

/// The port of every server; below the ports that the system gives out, as is the one that a cluster adds to it.
const PORT: u16 = 7379;
/// How many networks there are to choose from: 127.1.0.0/24 to 127.254.255.0/24.
const NETWORKS: u32 = 254 * 256;

static TAKEN: AtomicU32 = AtomicU32::new(0);

/// A loopback network that no other test uses while this lives.
///
/// Its servers are told apart by their addresses alone, so that a packet filter can tell them apart too.
#[derive(Debug)]
pub(super) struct Addresses {
    network: [u8; 2],
    /// Other processes see by its name that the network is taken; the name is free when this process ends.
    _claim: UnixListener,
}

impl Addresses {
    pub(super) fn claim() -> Self {
        let first = std::process::id().wrapping_mul(127);
        (0..NETWORKS)
            .map(|_| first.wrapping_add(TAKEN.fetch_add(1, Ordering::Relaxed)) % NETWORKS)
            .find_map(Self::claim_network)
            .expect("a loopback network is free")
    }

    fn claim_network(number: u32) -> Option<Self> {
        let [_, _, high, low] = number.to_be_bytes();
        let network = [high + 1, low];
        let name = format!("ropeline-testing-{high}-{low}");
        let name = SocketAddr::from_abstract_name(name).expect("the name is short");
        let claim = UnixListener::bind_addr(&name).ok()?;
        let addresses = Self {
            network,
            _claim: claim,
        };
        // A test that was killed may have left its servers.
        TcpListener::bind(addresses.nth(0)).ok()?;
        Some(addresses)
    }

    /// The address of a group's member.
    pub(super) fn nth(&self, member: u8) -> SocketAddrV4 {
        let [high, low] = self.network;
        SocketAddrV4::new(Ipv4Addr::new(127, high, low, member + 1), PORT)
    }
}
