//! The address of a Redis, as an operator writes it.

mod error;
mod parse;
#[cfg(test)]
mod tests;

use std::{fmt, path::PathBuf, str::FromStr};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use redis::{
    Client, ConnectionAddr, ConnectionInfo, IntoConnectionInfo, RedisConnectionInfo, RedisResult,
    io::tcp::TcpSettings,
};

pub use error::RedisUrlError;

/// Where Redis listens if nobody says otherwise.
const PORT: u16 = 6379;
/// Stands in the place of a password wherever an address is shown.
const HIDDEN: &str = "…";
/// What a name may hold in an address without being mistaken for a part of it.
const NAME: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');
const PATH: &AsciiSet = &NAME.remove(b'/');

/// Where a Redis is, as whom to log in there, and which of its databases is ours.
///
/// It may hold a password, which neither `Display` nor `Debug` shows.
#[derive(Clone, PartialEq, Eq)]
pub struct RedisUrl {
    address: Address,
    pub(super) login: Option<Login>,
    pub(super) database: u32,
}

#[derive(Clone, PartialEq, Eq)]
enum Address {
    Tcp {
        host: String,
        port: u16,
    },
    /// The server's certificate is always verified.
    Tls {
        host: String,
        port: u16,
    },
    Unix(PathBuf),
}

#[derive(Clone, PartialEq, Eq)]
pub(super) struct Login {
    /// None for Redis's user `default`.
    pub(super) user: Option<String>,
    pub(super) password: String,
}

impl RedisUrl {
    /// What the `redis` crate needs to connect.
    pub fn connection_info(&self) -> RedisResult<ConnectionInfo> {
        let address = match self.address.clone() {
            Address::Tcp { host, port } => ConnectionAddr::Tcp(host, port),
            Address::Tls { host, port } => ConnectionAddr::TcpTls {
                host,
                port,
                insecure: false,
                tls_params: None,
            },
            Address::Unix(path) => ConnectionAddr::Unix(path),
        };
        // Shown by `CLIENT LIST`, from Redis 7.2 on.
        let mut session = RedisConnectionInfo::default()
            .set_lib_name("ropeline", env!("CARGO_PKG_VERSION"))
            .set_db(self.database.into());
        if let Some(login) = &self.login {
            session = session.set_password(&login.password);
            if let Some(user) = &login.user {
                session = session.set_username(user);
            }
        }
        // A call is one small write that somebody waits for.
        let tcp = TcpSettings::default().set_nodelay(true);
        let info = address.into_connection_info()?;
        Ok(info.set_redis_settings(session).set_tcp_settings(tcp))
    }

    /// A client that has not connected yet. The certificates of `rediss://` are verified against those of the
    /// system, or of the file that `SSL_CERT_FILE` names.
    pub fn client(&self) -> RedisResult<Client> {
        if self.is_tls() {
            // Fails only when one is installed already, which then serves as well.
            rustls::crypto::ring::default_provider()
                .install_default()
                .ok();
        }
        Client::open(self.connection_info()?)
    }

    /// Whether what travels to Redis is encrypted.
    pub fn is_tls(&self) -> bool {
        matches!(self.address, Address::Tls { .. })
    }

    /// Whether there is a password in it, which is never shown.
    pub fn has_password(&self) -> bool {
        let mut login = self.login.iter();
        login.any(|login| !login.password.is_empty())
    }
}

impl FromStr for RedisUrl {
    type Err = RedisUrlError;

    fn from_str(text: &str) -> Result<Self, RedisUrlError> {
        parse::redis_url(text)
    }
}

impl fmt::Display for RedisUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (scheme, host, port) = match &self.address {
            Address::Tcp { host, port } => ("redis", host, port),
            Address::Tls { host, port } => ("rediss", host, port),
            Address::Unix(path) => return self.fmt_socket(f, &path.to_string_lossy()),
        };
        write!(f, "{scheme}://")?;
        if let Some(login) = &self.login {
            let user = login.user.as_deref().unwrap_or_default();
            write!(f, "{}:{}@", encoded(user), login.shown_password())?;
        }
        if host.contains(':') {
            write!(f, "[{host}]:{port}")?;
        } else {
            write!(f, "{host}:{port}")?;
        }
        match self.database {
            0 => Ok(()),
            database => write!(f, "/{database}"),
        }
    }
}

impl RedisUrl {
    fn fmt_socket(&self, f: &mut fmt::Formatter<'_>, path: &str) -> fmt::Result {
        write!(f, "redis+unix://{}", utf8_percent_encode(path, PATH))?;
        let mut options = Vec::new();
        if self.database != 0 {
            options.push(format!("db={}", self.database));
        }
        if let Some(login) = &self.login {
            let user = login.user.iter();
            options.extend(user.map(|user| format!("user={}", encoded(user))));
            options.push(format!("pass={}", login.shown_password()));
        }
        match options.join("&") {
            options if options.is_empty() => Ok(()),
            options => write!(f, "?{options}"),
        }
    }
}

impl Login {
    fn shown_password(&self) -> &'static str {
        if self.password.is_empty() { "" } else { HIDDEN }
    }
}

impl fmt::Debug for RedisUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RedisUrl({self})")
    }
}

fn encoded(name: &str) -> impl fmt::Display {
    utf8_percent_encode(name, NAME)
}
