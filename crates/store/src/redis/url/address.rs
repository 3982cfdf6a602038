//! Where one server listens.

use std::{fmt, path::PathBuf};

use redis::ConnectionAddr;

/// Where one server listens.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::redis) enum Address {
    /// A name or number of the network, and a port.
    Net {
        /// How it is spoken to.
        wire: Wire,
        /// A name, or the number of a network address without brackets.
        host: String,
        /// Never 0.
        port: u16,
    },
    /// A socket of this machine.
    Unix(PathBuf),
}

/// How a server of the network is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::redis) enum Wire {
    /// As it is.
    Plain,
    /// Encrypted; the server's certificate is always verified.
    Tls,
}

impl Address {
    /// As the `redis` crate has it.
    pub(in crate::redis) fn connection_addr(&self) -> ConnectionAddr {
        match self.clone() {
            Self::Net {
                wire: Wire::Plain,
                host,
                port,
            } => ConnectionAddr::Tcp(host, port),
            Self::Net {
                wire: Wire::Tls,
                host,
                port,
            } => ConnectionAddr::TcpTls {
                host,
                port,
                insecure: false,
                tls_params: None,
            },
            Self::Unix(path) => ConnectionAddr::Unix(path),
        }
    }

    /// Another server as this one names it: an empty host is this one's own.
    pub(in crate::redis) fn neighbour(&self, named: &str, port: u16) -> Self {
        match self {
            Self::Net { wire, host, .. } => Self::Net {
                wire: *wire,
                host: if named.is_empty() { host } else { named }.to_owned(),
                port,
            },
            Self::Unix(path) => Self::Unix(path.clone()),
        }
    }

    pub(in crate::redis) fn is_tls(&self) -> bool {
        matches!(
            self,
            Self::Net {
                wire: Wire::Tls,
                ..
            }
        )
    }
}

/// `host:port`, or the path.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Net { host, port, .. } if host.contains(':') => write!(f, "[{host}]:{port}"),
            Self::Net { host, port, .. } => write!(f, "{host}:{port}"),
            Self::Unix(path) => write!(f, "{}", path.display()),
        }
    }
}
