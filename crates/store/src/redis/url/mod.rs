//! The address of a Redis, as an operator writes it.

mod address;
mod error;
mod parse;
#[cfg(test)]
mod tests;

use std::{fmt, str::FromStr};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use redis::{
    Client, ConnectionInfo, IntoConnectionInfo, RedisConnectionInfo, RedisResult,
    io::tcp::TcpSettings,
};

pub(super) use address::{Address, Wire};
pub use error::RedisUrlError;

/// Where Redis listens if nobody says otherwise.
const PORT: u16 = 6379;
/// And a Sentinel.
const SENTINEL_PORT: u16 = 26379;
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
    pub(super) place: Place,
    pub(super) login: Option<Login>,
    pub(super) database: u32,
}

/// How the server that has the keys is found.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Place {
    /// It is the one that is named.
    Server(Address),
    /// Sentinels know which server is the master of this name.
    Sentinels {
        sentinels: Vec<Address>,
        master: String,
        /// As whom to ask the Sentinels; most take everybody.
        login: Option<Login>,
    },
    /// Any server of a Cluster knows which of them owns a slot.
    Cluster(Vec<Address>),
}

#[derive(Clone, PartialEq, Eq)]
pub(super) struct Login {
    /// None for Redis's user `default`.
    pub(super) user: Option<String>,
    pub(super) password: String,
}

impl RedisUrl {
    /// A client for the one server that is named, which has not connected yet. The servers behind Sentinels and
    /// those of a Cluster have to be found first.
    pub fn client(&self) -> RedisResult<Client> {
        match &self.place {
            Place::Server(address) => self.client_of(address),
            Place::Sentinels { .. } | Place::Cluster(_) => Err(redis::RedisError::from((
                redis::ErrorKind::InvalidClientConfig,
                "the address names several servers",
            ))),
        }
    }

    /// A client for a server that keeps our keys. The certificates of `rediss://` are verified against those of
    /// the system, or of the file that `SSL_CERT_FILE` names.
    pub(super) fn client_of(&self, server: &Address) -> RedisResult<Client> {
        client(server, self.login.as_ref(), self.database)
    }

    /// Whether what travels to Redis is encrypted.
    pub fn is_tls(&self) -> bool {
        self.named().iter().any(Address::is_tls)
    }

    /// The servers that are named.
    pub(super) fn named(&self) -> &[Address] {
        match &self.place {
            Place::Server(address) => std::slice::from_ref(address),
            Place::Sentinels { sentinels, .. } => sentinels,
            Place::Cluster(servers) => servers,
        }
    }

    /// Whether there is a password in it, which is never shown.
    pub fn has_password(&self) -> bool {
        let of_sentinels = match &self.place {
            Place::Sentinels { login, .. } => login.as_ref(),
            Place::Server(_) | Place::Cluster(_) => None,
        };
        let mut logins = self.login.iter().chain(of_sentinels);
        logins.any(|login| !login.password.is_empty())
    }
}

/// A client that has not connected yet.
pub(super) fn client(
    server: &Address,
    login: Option<&Login>,
    database: u32,
) -> RedisResult<Client> {
    if server.is_tls() {
        // Fails only when one is installed already, which then serves as well.
        rustls::crypto::ring::default_provider()
            .install_default()
            .ok();
    }
    Client::open(connection_info(server, login, database)?)
}

fn connection_info(
    server: &Address,
    login: Option<&Login>,
    database: u32,
) -> RedisResult<ConnectionInfo> {
    // Shown by `CLIENT LIST`, from Redis 7.2 on.
    let mut session = RedisConnectionInfo::default()
        .set_lib_name("ropeline", env!("CARGO_PKG_VERSION"))
        .set_db(database.into());
    if let Some(login) = login {
        session = session.set_password(&login.password);
        if let Some(user) = &login.user {
            session = session.set_username(user);
        }
    }
    // A call is one small write that somebody waits for.
    let tcp = TcpSettings::default().set_nodelay(true);
    let info = server.connection_addr().into_connection_info()?;
    Ok(info.set_redis_settings(session).set_tcp_settings(tcp))
}

impl FromStr for RedisUrl {
    type Err = RedisUrlError;

    fn from_str(text: &str) -> Result<Self, RedisUrlError> {
        parse::redis_url(text)
    }
}

impl fmt::Display for RedisUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Place::Server(Address::Unix(path)) = &self.place {
            return self.fmt_socket(f, &path.to_string_lossy());
        }
        write!(f, "{}://", self.scheme())?;
        if let Some(login) = &self.login {
            let user = login.user.as_deref().unwrap_or_default();
            write!(f, "{}:{}@", encoded(user), login.shown_password())?;
        }
        for (at, server) in self.named().iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            write!(f, "{comma}{server}")?;
        }
        if let Place::Sentinels { master, .. } = &self.place {
            write!(f, "/{}", encoded(master))?;
        }
        if self.database != 0 {
            write!(f, "/{}", self.database)?;
        }
        match &self.place {
            Place::Sentinels {
                login: Some(login), ..
            } => fmt_options(f, &login.options("sentinel_")),
            _ => Ok(()),
        }
    }
}

impl RedisUrl {
    fn scheme(&self) -> &'static str {
        match (&self.place, self.is_tls()) {
            (Place::Server(_), false) => "redis",
            (Place::Server(_), true) => "rediss",
            (Place::Sentinels { .. }, false) => "redis+sentinel",
            (Place::Sentinels { .. }, true) => "rediss+sentinel",
            (Place::Cluster(_), false) => "redis+cluster",
            (Place::Cluster(_), true) => "rediss+cluster",
        }
    }

    fn fmt_socket(&self, f: &mut fmt::Formatter<'_>, path: &str) -> fmt::Result {
        write!(f, "redis+unix://{}", utf8_percent_encode(path, PATH))?;
        let mut options = Vec::new();
        if self.database != 0 {
            options.push(format!("db={}", self.database));
        }
        options.extend(self.login.iter().flat_map(|login| login.options("")));
        fmt_options(f, &options)
    }
}

fn fmt_options(f: &mut fmt::Formatter<'_>, options: &[String]) -> fmt::Result {
    match options.join("&") {
        options if options.is_empty() => Ok(()),
        options => write!(f, "?{options}"),
    }
}

impl Login {
    fn shown_password(&self) -> &'static str {
        if self.password.is_empty() { "" } else { HIDDEN }
    }

    /// As options behind a `?`.
    fn options(&self, prefix: &str) -> Vec<String> {
        let user = self.user.iter();
        let user = user.map(|user| format!("{prefix}user={}", encoded(user)));
        let password = format!("{prefix}pass={}", self.shown_password());
        user.chain([password]).collect()
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
