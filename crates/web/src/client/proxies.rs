//! The proxies that are believed.

use std::net::IpAddr;

use ipnet::IpNet;

/// Networks whose hosts say truly whom they forward for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TrustedProxies(Vec<IpNet>);

impl TrustedProxies {
    /// These networks and no other.
    pub fn new(networks: Vec<IpNet>) -> Self {
        Self(networks)
    }

    /// The networks in the order they were given.
    pub fn networks(&self) -> &[IpNet] {
        &self.0
    }

    /// Whether this address, IPv4 where it can be, is one of a trusted proxy.
    pub(crate) fn contains(&self, address: IpAddr) -> bool {
        self.0.iter().any(|network| network.contains(&address))
    }
}
