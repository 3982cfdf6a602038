//! Whether a Redis is there and takes us, asked once.

use std::{error::Error, io, sync::Arc, time::Duration};

use redis::{
    AsyncConnectionConfig, Client, Cmd, ErrorKind, RedisError, ServerErrorKind,
    aio::MultiplexedConnection, cmd,
};
use thiserror::Error;

use super::{
    RedisUrl,
    servers::{Lost, Servers},
    url::{Address, Place},
};

/// Why a Redis does not serve us, worded for the operator.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Unreached {
    /// It may be there in a moment: it is worth trying again.
    #[error("{0}")]
    Away(String),
    /// It will not take us however often we try: something is to be changed.
    #[error("{0}")]
    Refused(String),
}

impl RedisUrl {
    /// Finds the servers, connects, logs in and asks for an answer, each within `limit`.
    pub async fn knock(&self, limit: Duration) -> Result<(), Unreached> {
        let servers = Servers::of(self);
        servers.review().await?;
        for server in servers.owners() {
            let knocked = self.knock_at(&server, limit).await;
            knocked.map_err(|unreached| match self.place {
                Place::Server(_) => unreached,
                _ => unreached.of(&server),
            })?;
        }
        Ok(())
    }

    async fn knock_at(&self, server: &Address, limit: Duration) -> Result<(), Unreached> {
        let steps = self.steps();
        let connected = self.connect_unknown(server, limit).await;
        let mut connection = connected.map_err(|error| self.doubting_tls((&error).into()))?;
        for step in steps {
            let answer = step.query_async::<()>(&mut connection).await;
            answer.map_err(|error| Unreached::from(&error))?;
        }
        Ok(())
    }

    /// Connects without logging in. The `redis` crate would do both, but calls every failure of the latter a
    /// wrong password, also that of a server which has too many clients just now.
    async fn connect_unknown(
        &self,
        server: &Address,
        limit: Duration,
    ) -> Result<MultiplexedConnection, RedisError> {
        let client = self.client_of(server)?;
        let info = client.get_connection_info().clone();
        let stranger = redis::RedisConnectionInfo::default().set_skip_set_lib_name();
        let client = Client::open(info.set_redis_settings(stranger))?;
        let limits = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(limit))
            .set_response_timeout(Some(limit));
        client
            .get_multiplexed_async_connection_with_config(&limits)
            .await
    }

    /// Redis is silent to those who speak TLS where it does not expect it.
    fn doubting_tls(&self, unreached: Unreached) -> Unreached {
        match unreached {
            Unreached::Away(why) if self.is_tls() => Unreached::Away(format!(
                "{why}; does it speak TLS (rediss://) on this port?"
            )),
            unreached => unreached,
        }
    }

    fn steps(&self) -> Vec<Cmd> {
        let mut steps = Vec::new();
        if let Some(login) = &self.login {
            let mut auth = cmd("AUTH");
            auth.arg(&login.user).arg(&login.password);
            steps.push(auth);
        }
        if self.database != 0 {
            let mut select = cmd("SELECT");
            select.arg(self.database);
            steps.push(select);
        }
        steps.push(cmd("PING"));
        steps
    }
}

impl Unreached {
    /// Says which of several servers it is.
    fn of(self, server: &Address) -> Self {
        match self {
            Self::Away(why) => Self::Away(format!("{server}: {why}")),
            Self::Refused(why) => Self::Refused(format!("{server}: {why}")),
        }
    }
}

impl From<Lost> for Unreached {
    fn from(lost: Lost) -> Self {
        if lost.is_refusal() {
            Self::Refused(lost.to_string())
        } else {
            Self::Away(lost.to_string())
        }
    }
}

impl From<&RedisError> for Unreached {
    fn from(error: &RedisError) -> Self {
        match error.kind() {
        ErrorKind::Io => judge_io(error),
        ErrorKind::Parse | ErrorKind::UnexpectedReturnType => Self::Refused(
            "something answers there, but not as Redis does: check host and port, and whether it speaks TLS".into(),
        ),
        ErrorKind::Server(
            ServerErrorKind::BusyLoading
            | ServerErrorKind::MasterDown
            | ServerErrorKind::TryAgain
            | ServerErrorKind::ClusterDown,
        ) => Self::Away(said(error)),
        ErrorKind::Server(_) | ErrorKind::Extension => judge_words(error),
        _ => Self::Refused(error.to_string()),
    }
    }
}

fn judge_io(error: &RedisError) -> Unreached {
    if error.is_timeout() {
        return Unreached::Away("it does not answer".into());
    }
    let Some(cause) = system_error(error) else {
        // Certificates that cannot be read, or a name that no certificate can have.
        return Unreached::Refused(format!("TLS is not possible: {error}"));
    };
    match cause.kind() {
        io::ErrorKind::InvalidData => Unreached::Refused(format!("TLS is not possible: {cause}")),
        io::ErrorKind::ConnectionRefused => Unreached::Away("nothing listens there".into()),
        io::ErrorKind::UnexpectedEof
        | io::ErrorKind::BrokenPipe
        | io::ErrorKind::ConnectionReset => Unreached::Away(
            "the connection was closed at once; does it want TLS (rediss://) on this port?".into(),
        ),
        _ => Unreached::Away(cause.to_string()),
    }
}

fn judge_words(error: &RedisError) -> Unreached {
    let advice = match error.code() {
        Some("WRONGPASS") => "it does not take this user and password",
        Some("NOAUTH") => "it wants a password: write redis://:PASSWORD@HOST, or USER:PASSWORD@",
        Some("NOPERM") => "the user is not allowed to do what is needed",
        _ if said(error).contains("max number of clients") => {
            return Unreached::Away("it has as many clients as it takes".into());
        }
        _ => "it refuses",
    };
    Unreached::Refused(format!("{advice} ({})", said(error)))
}

/// The server's own words.
fn said(error: &RedisError) -> String {
    match (error.code(), error.detail()) {
        (Some(code), Some(detail)) => format!("{code} {detail}"),
        _ => error.to_string(),
    }
}

/// What the system said. The `redis` crate keeps it behind a pointer that is itself an error.
fn system_error(error: &RedisError) -> Option<&io::Error> {
    let kept: &Arc<dyn Error + Send + Sync> = error.source()?.downcast_ref()?;
    kept.downcast_ref()
}
