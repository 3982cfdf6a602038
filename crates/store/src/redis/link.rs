//! A connection that comes back by itself, with a limit on every call.

use std::{sync::Arc, time::Duration};

use arc_swap::ArcSwap;
use redis::{
    Client, Cmd, ErrorKind, FromRedisValue, RedisError, RedisResult, ServerErrorKind, Value,
    aio::{ConnectionManager, ConnectionManagerConfig},
};

use super::script::{self, Script};
use crate::StoreError;

/// An answer that takes longer than this counts as lost.
const ANSWER_MAX: Duration = Duration::from_secs(1);
/// And so does a connection that takes longer to be made.
const CONNECT_MAX: Duration = Duration::from_secs(1);

/// One connection, shared by all who call over it; their calls are pipelined.
#[derive(Debug)]
pub(super) struct Link {
    client: Client,
    manager: ArcSwap<ConnectionManager>,
}

impl Link {
    /// A link that connects when it is first used.
    pub(super) fn to(client: &Client) -> RedisResult<Self> {
        Ok(Self {
            client: client.clone(),
            manager: ArcSwap::from_pointee(manager(client)?),
        })
    }

    /// Sends a command and waits for its answer. The time limit holds for connecting, too.
    pub(super) async fn query<T: FromRedisValue>(&self, command: &Cmd) -> RedisResult<T> {
        let value = self.send(command).await?;
        Ok(redis::from_redis_value(value)?)
    }

    /// Runs a script, which is loaded if the server does not know it.
    pub(super) async fn run(&self, script: &Script, call: &Cmd) -> RedisResult<Value> {
        match self.send(call).await {
            Err(error) if error.kind() == ErrorKind::Server(ServerErrorKind::NoScript) => {
                self.load(script).await?;
                self.send(call).await
            }
            answer => answer,
        }
    }

    /// Loads all scripts.
    pub(super) async fn load_all(&self) -> RedisResult<()> {
        for script in script::all() {
            self.load(script).await?;
        }
        Ok(())
    }

    async fn load(&self, script: &Script) -> RedisResult<()> {
        let command = redis::cmd("SCRIPT").arg("LOAD").arg(script.text).clone();
        self.send(&command).await.map(drop)
    }

    async fn send(&self, command: &Cmd) -> RedisResult<Value> {
        let used = self.manager.load_full();
        let mut manager = ConnectionManager::clone(&used);
        let sent = manager.send_packed_command(command);
        let answer = tokio::time::timeout(ANSWER_MAX + CONNECT_MAX, sent)
            .await
            .unwrap_or_else(|_| {
                Err(RedisError::from(std::io::Error::from(
                    std::io::ErrorKind::TimedOut,
                )))
            });
        if answer.as_ref().is_err_and(RedisError::is_timeout) {
            self.start_over(&used);
        }
        answer?.extract_error()
    }

    /// Makes another connection: one that has stopped answering may never say that it is broken.
    fn start_over(&self, used: &Arc<ConnectionManager>) {
        if let Ok(fresh) = manager(&self.client) {
            self.manager.compare_and_swap(used, Arc::new(fresh));
        }
    }
}

fn manager(client: &Client) -> RedisResult<ConnectionManager> {
    // Who calls decides how often to try again, so that nobody waits for somebody else's patience.
    let config = ConnectionManagerConfig::new()
        .set_connection_timeout(Some(CONNECT_MAX))
        .set_response_timeout(Some(ANSWER_MAX))
        .set_number_of_retries(0);
    ConnectionManager::new_lazy_with_config(client.clone(), config)
}

/// Whether the server has said no: nothing was done, and asking again at once would not help.
pub(super) fn is_refusal(error: &RedisError) -> bool {
    match error.kind() {
        ErrorKind::Server(
            ServerErrorKind::BusyLoading | ServerErrorKind::TryAgain | ServerErrorKind::NoScript,
        ) => false,
        ErrorKind::Server(_) | ErrorKind::AuthenticationFailed | ErrorKind::Extension => true,
        _ => false,
    }
}

const NO_RIGHT: &str = "the Redis user may not do what is needed: see docs/REDIS.md for its rights, and ACL LOG for what was refused";

/// What is wrong, worded for the operator.
pub(super) fn unavailable(error: &RedisError) -> StoreError {
    StoreError::Unavailable(words(error).into())
}

pub(super) fn words(error: &RedisError) -> String {
    let advice = match error.code().unwrap_or_default() {
        "OOM" => "Redis is out of memory: raise maxmemory",
        "MISCONF" => "Redis cannot write its data to disk: look at its log and its disk",
        "READONLY" => "this Redis is a replica and takes no writes: name its master",
        "LOADING" => "Redis is still loading its data",
        "BUSY" => "Redis is busy with a script of somebody else",
        "NOREPLICAS" => "Redis wants more replicas than it has (min-replicas-to-write)",
        "NOAUTH" | "WRONGPASS" => "Redis refuses the user or password of the store's address",
        "NOPERM" => NO_RIGHT,
        // What is said of a command in a script has no code of its own.
        _ if error
            .detail()
            .is_some_and(|said| said.contains("can't run this command")) =>
        {
            NO_RIGHT
        }
        _ if error.is_timeout() => "Redis does not answer in time",
        _ if error.is_connection_refusal() => "nobody listens at Redis's address",
        _ if error.is_io_error() => "the connection to Redis is broken",
        _ => "Redis answers with an error",
    };
    format!("{advice} ({error})")
}
