//! What is wrong with an address. Never with the address itself, which may hold a password.

use thiserror::Error;

/// Why an address is not one of a Redis, worded for the operator. [`RedisUrlError::instead`] says what to
/// write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum RedisUrlError {
    /// It begins with nothing that we know.
    #[error(
        "must begin with redis://, rediss:// (with TLS), redis+sentinel://, redis+cluster:// or redis+unix:// (a socket)"
    )]
    Scheme,
    /// Valkey speaks the same.
    #[error("is written with redis:// for Valkey too, or rediss:// with TLS")]
    Valkey,
    /// Several hosts where there is one.
    #[error(
        "names several hosts: write redis+sentinel:// if they are Sentinels, redis+cluster:// if they are a Cluster"
    )]
    Several,
    /// Sentinels without the name of what they watch.
    #[error("must end with the name that the Sentinels have for the master")]
    NoMaster,
    /// Other options than those of Sentinels.
    #[error(
        "has options behind ? that are none: there are sentinel_user and sentinel_pass, each once, for Sentinels that want a password of their own"
    )]
    SentinelOptions,
    /// A database other than the only one.
    #[error("names a database, and a Cluster has only one: leave the number out")]
    ClusterDatabase,
    /// There is no host.
    #[error("names no host")]
    NoHost,
    /// The host is none, most likely because of what stands before it.
    #[error(
        "has a host that cannot be one; a / ? # @ or % of a password is written as %2F %3F %23 %40 %25"
    )]
    Host,
    /// An address to listen on.
    #[error(
        "names the address of every network, which is for listening: name the one to connect to"
    )]
    Everywhere,
    /// Not a port.
    #[error("has a port that is none: it is a number from 1 to 65535")]
    Port,
    /// A name without a password, or a password in the place of a name.
    #[error(
        "has a user without a password: write user:password@, or :password@ for a password alone"
    )]
    NoPassword,
    /// As `ropeline config show` prints it.
    #[error(
        "has a password that was left out, as it always is where settings are shown: put it back"
    )]
    Hidden,
    /// A percent sign that begins nothing.
    #[error("has a % that stands for nothing: a percent sign itself is written as %25")]
    Percent,
    /// Something behind the host that is no number.
    #[error("must end with the number of a database, or with the host and port")]
    Database,
    /// Something behind a `?` or `#`.
    #[error("has options behind ? or #, and there are none; certificates are always verified")]
    Options,
    /// A socket without a whole path.
    #[error(
        "must have the whole path of the socket behind redis+unix://, so that there are three slashes"
    )]
    SocketPath,
    /// An option that sockets do not have.
    #[error("has options behind ? that are none: there are db, user and pass, each once")]
    SocketOptions,
}

impl RedisUrlError {
    /// An address of the kind that was probably meant, with nothing of what was written.
    pub fn instead(self) -> &'static str {
        match self {
            Self::SocketPath => "redis+unix:///run/redis/redis.sock",
            Self::SocketOptions => {
                "redis+unix:///run/redis/redis.sock?db=1&user=USER&pass=PASSWORD"
            }
            Self::Everywhere => "redis://127.0.0.1:6379",
            Self::Database => "redis://HOST:6379/0",
            Self::NoPassword | Self::Hidden | Self::Percent | Self::Host => {
                "redis://USER:PASSWORD@HOST:6379"
            }
            Self::NoMaster => "redis+sentinel://HOST:26379,HOST:26379,HOST:26379/MASTER",
            Self::SentinelOptions => {
                "redis+sentinel://HOST:26379/MASTER?sentinel_user=USER&sentinel_pass=PASSWORD"
            }
            Self::Several | Self::ClusterDatabase => "redis+cluster://HOST:6379,HOST:6379",
            Self::Scheme | Self::Valkey | Self::NoHost | Self::Port | Self::Options => {
                "redis://HOST:6379"
            }
        }
    }
}
