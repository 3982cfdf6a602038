//! Whose request it is: the address that limits and logs go by.
//!
//! `X-Forwarded-For` is read only where a trusted proxy sent it. `Forwarded` (RFC 7239) is not read: a
//! proxy that writes one header lets the other through as the visitor sent it, and only one can be believed.

mod block;
mod proxies;

use std::net::{IpAddr, SocketAddr};

use axum::extract::ConnectInfo;
use http::{HeaderMap, request::Parts};

pub(crate) use self::block::Block;
pub use self::proxies::TrustedProxies;

const FORWARDED_FOR: &str = "x-forwarded-for";

/// Who sent a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Client {
    /// Where the request comes from, as far as those whom we trust can tell.
    pub address: IpAddr,
    route: Route,
}

/// How a request came to us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Route {
    Direct,
    Proxied,
}

impl Client {
    /// Worked out only where it is asked for: most requests need no address.
    pub fn of(parts: &Parts, proxies: &TrustedProxies) -> Self {
        let peer = parts.extensions.get::<ConnectInfo<SocketAddr>>();
        let ConnectInfo(peer) = peer.expect("the server tells the peer of every request");
        Self::at(*peer, &parts.headers, proxies)
    }

    /// Who has sent a request with these headers by way of this peer.
    pub fn at(peer: SocketAddr, headers: &HeaderMap, proxies: &TrustedProxies) -> Self {
        Self::behind(proxies, peer.ip(), headers)
    }

    /// The peer, unless it is a trusted proxy; then the nearest address that is not one.
    ///
    /// The header is read from its end, where our own proxies write. What stands left of an address that
    /// we do not trust, or of something that is no address, may be anybody's invention.
    fn behind(proxies: &TrustedProxies, peer: IpAddr, headers: &HeaderMap) -> Self {
        let mut address = peer.to_canonical();
        if !proxies.contains(address) {
            let route = Route::Direct;
            return Self { address, route };
        }
        let lines = headers.get_all(FORWARDED_FOR).iter().rev();
        let entries = lines.flat_map(|line| line.to_str().unwrap_or_default().rsplit(','));
        for entry in entries.map(|entry| parse(entry.trim())) {
            let Some(entry) = entry else { break };
            address = entry;
            if !proxies.contains(address) {
                break;
            }
        }
        let route = Route::Proxied;
        Self { address, route }
    }

    /// Whether it comes from this machine itself, as from a program beside us or a proxy that nobody
    /// declared.
    pub fn is_this_machine(self) -> bool {
        self.route == Route::Direct && self.address.is_loopback()
    }
}

/// An address as proxies write it; some add the port.
fn parse(entry: &str) -> Option<IpAddr> {
    let address = entry.parse().ok();
    let with_port = || entry.parse::<SocketAddr>().ok().map(|socket| socket.ip());
    let bracketed = || entry.strip_prefix('[')?.strip_suffix(']')?.parse().ok();
    let address: IpAddr = address.or_else(with_port).or_else(bracketed)?;
    Some(address.to_canonical())
}

#[cfg(test)]
mod tests;
