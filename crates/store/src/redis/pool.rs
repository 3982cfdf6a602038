//! One connection to each server, made when it is first used and made anew when it is broken, with a limit on
//! every call.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures_util::future::BoxFuture;
use redis::{
    AsyncConnectionConfig, Client, Cmd, Pipeline, RedisError, RedisResult, Value,
    aio::MultiplexedConnection,
};
use tokio::sync::OnceCell;

use super::url::Address;

/// An answer that takes longer than this counts as lost.
pub(super) const ANSWER_MAX: Duration = Duration::from_secs(1);
/// And so does a connection that takes longer to be made.
const CONNECT_MAX: Duration = Duration::from_secs(1);

/// How a client for a server is made.
pub(super) type MakeClient = Box<dyn Fn(&Address) -> RedisResult<Client> + Send + Sync>;

/// A connection that is open, being opened, or could not be. Who waits for it shares the one attempt.
type Connecting = Arc<OnceCell<RedisResult<MultiplexedConnection>>>;

/// One connection to each server, shared by all who call over it; their calls are pipelined.
pub(super) struct Pool {
    client_of: MakeClient,
    limits: Limits,
    connections: Mutex<BTreeMap<Address, Connecting>>,
}

/// How long to wait.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// For a connection.
    pub(super) connect: Duration,
    /// For an answer.
    pub(super) answer: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connect: CONNECT_MAX,
            answer: ANSWER_MAX,
        }
    }
}

impl std::fmt::Debug for Pool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pool").finish_non_exhaustive()
    }
}

impl Pool {
    pub(super) fn new(client_of: MakeClient, limits: Limits) -> Self {
        Self {
            client_of,
            limits,
            connections: Mutex::default(),
        }
    }

    /// Sends a command and waits for its answer, which is not an error.
    pub(super) async fn send(&self, server: &Address, command: &Cmd) -> RedisResult<Value> {
        let sent = async |mut connection: MultiplexedConnection| {
            connection.send_packed_command(command).await
        };
        self.over(server, sent).await?.extract_error()
    }

    /// Sends commands in one go, with nobody's between them, and waits for all answers, some of which may be
    /// errors.
    pub(super) async fn send_all(
        &self,
        server: &Address,
        commands: &Pipeline,
    ) -> RedisResult<Vec<Value>> {
        let sent = async |mut connection: MultiplexedConnection| {
            let count = commands.len();
            connection.send_packed_commands(commands, 0, count).await
        };
        self.over(server, sent).await
    }

    async fn over<T>(
        &self,
        server: &Address,
        sent: impl AsyncFnOnce(MultiplexedConnection) -> RedisResult<T>,
    ) -> RedisResult<T> {
        let used = self.connecting(server);
        let calling = async {
            let connected = used.get_or_init(|| self.connect(server)).await;
            sent(connected.clone()?).await
        };
        let limit = self.limits.connect + self.limits.answer;
        let answer = tokio::time::timeout(limit, calling).await;
        let answer = answer.unwrap_or_else(|_| Err(too_late()));
        // A connection that has stopped answering may never say that it is broken.
        if answer.as_ref().is_err_and(is_broken) {
            self.forget(server, &used);
        }
        answer
    }

    fn connecting(&self, server: &Address) -> Connecting {
        Arc::clone(self.lock().entry(server.clone()).or_default())
    }

    /// Boxed, since the state of connecting is large and seldom needed.
    fn connect<'a>(
        &'a self,
        server: &'a Address,
    ) -> BoxFuture<'a, RedisResult<MultiplexedConnection>> {
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(self.limits.connect))
            .set_response_timeout(Some(self.limits.answer));
        Box::pin(async move {
            let client = (self.client_of)(server)?;
            client
                .get_multiplexed_async_connection_with_config(&config)
                .await
        })
    }

    /// Makes another connection the next time, unless somebody has done so by now.
    fn forget(&self, server: &Address, used: &Connecting) {
        let mut connections = self.lock();
        if connections
            .get(server)
            .is_some_and(|now| Arc::ptr_eq(now, used))
        {
            connections.remove(server);
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Address, Connecting>> {
        self.connections
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// Anything but a word of the server itself leaves a connection of which nothing is known.
pub(super) fn is_broken(error: &RedisError) -> bool {
    !matches!(
        error.kind(),
        redis::ErrorKind::Server(_) | redis::ErrorKind::Extension
    )
}

fn too_late() -> RedisError {
    RedisError::from(std::io::Error::from(std::io::ErrorKind::TimedOut))
}
