//! Calls to whichever server has a slot, followed where it moves.

use std::sync::Arc;

use redis::{
    Cmd, ErrorKind, FromRedisValue, Pipeline, RedisError, RedisResult, ServerErrorKind, Value,
};

use super::{
    durable::Durable,
    encode::Call,
    library,
    pool::{Limits, Pool, is_broken},
    servers::{Lost, Servers, is_elsewhere},
    slot::Slot,
    transit::Failed,
    url::{Address, RedisUrl},
};
use crate::StoreError;

/// A call is sent on at the most this often.
const REDIRECTS_MAX: u32 = 5;

/// One connection to each server, shared by all who call over it; their calls are pipelined.
#[derive(Debug)]
pub(super) struct Link {
    servers: Arc<Servers>,
    pool: Pool,
    durable: Option<Arc<Durable>>,
}

/// What a server answered.
#[derive(Debug)]
pub(super) struct Sent {
    pub(super) server: Address,
    pub(super) answer: Value,
    /// What was said to the commands behind the first, which may be errors.
    pub(super) behind: Vec<Value>,
}

/// Why there is no answer.
#[derive(Debug)]
enum Unsent {
    /// Nobody knows whom to ask.
    Lost(Lost),
    /// Whoever was asked last said no, or nothing.
    Failed { server: Address, error: RedisError },
}

/// Where a server has sent us.
enum Redirect {
    /// From now on.
    Moved(Address),
    /// This once.
    Ask(Address),
}

impl Link {
    /// A link that connects when it is first used.
    pub(super) fn to(url: &RedisUrl, servers: &Arc<Servers>) -> Self {
        let url = url.clone();
        let client_of = Box::new(move |server: &Address| url.client_of(server));
        Self {
            servers: Arc::clone(servers),
            pool: Pool::new(client_of, Limits::default()),
            durable: None,
        }
    }

    /// A link of the writers alone, whose calls are answered when what they wrote is durable.
    pub(super) fn durable(self, durable: &Arc<Durable>) -> Self {
        let durable = Some(Arc::clone(durable));
        Self { durable, ..self }
    }

    /// What is known of how durable the writes over this link are.
    pub(super) fn durability(&self) -> Option<&Durable> {
        self.durable.as_deref()
    }

    /// Sends a command for the keys of a slot and waits for its answer.
    pub(super) async fn query<T: FromRedisValue>(
        &self,
        slot: Slot,
        command: &Cmd,
    ) -> Result<T, Failed> {
        let sent = self.send(slot, &[command]).await;
        let sent = sent.map_err(|unsent| self.failed(unsent))?;
        Ok(redis::from_redis_value(sent.answer).map_err(RedisError::from)?)
    }

    /// Asks a server that is known, whatever it has.
    pub(super) async fn query_at<T: FromRedisValue>(
        &self,
        server: &Address,
        command: &Cmd,
    ) -> Result<T, Failed> {
        let value = self.pool.send(server, command).await?;
        Ok(redis::from_redis_value(value).map_err(RedisError::from)?)
    }

    /// Calls a function.
    pub(super) async fn run(&self, call: &Call) -> Result<Value, Failed> {
        match &self.durable {
            Some(durable) => durable.run(self, call).await,
            None => Ok(self.run_with(call, None).await?.answer),
        }
    }

    /// Calls a function, and sends the command behind it with nobody's between the two.
    pub(super) async fn run_with(&self, call: &Call, behind: Option<&Cmd>) -> Result<Sent, Failed> {
        let commands: Vec<_> = [&call.command].into_iter().chain(behind).collect();
        let sent = self.send_loaded(call.slot, &commands).await;
        sent.map_err(|unsent| self.failed(unsent))
    }

    /// Makes sure that the library is where a slot is, and may be called. It is not loaded where it is: a server that
    /// takes no writes at the moment takes no library either.
    pub(super) async fn load(&self, slot: Slot) -> Result<(), Failed> {
        let sent = self.send_loaded(slot, &[&library::ask_which()]).await;
        sent.map(drop).map_err(|unsent| self.failed(unsent))
    }

    /// Sends commands, the first of which calls a function. A server that does not know it is given the library.
    async fn send_loaded(&self, slot: Slot, commands: &[&Cmd]) -> Result<Sent, Unsent> {
        match self.send(slot, commands).await {
            Err(Unsent::Failed { server, error }) if is_unknown_function(&error) => {
                self.load_at(server).await?;
                self.send(slot, commands).await
            }
            sent => sent,
        }
    }

    async fn load_at(&self, server: Address) -> Result<(), Unsent> {
        match self.pool.send(&server, &library::load()).await {
            Ok(_) => Ok(()),
            Err(error) => {
                self.doubt(&server, &error);
                Err(Unsent::Failed { server, error })
            }
        }
    }

    /// Sends commands to the owner of a slot, and on to whom it names.
    async fn send(&self, slot: Slot, commands: &[&Cmd]) -> Result<Sent, Unsent> {
        let mut server = self.servers.owner(slot).await.map_err(Unsent::Lost)?;
        let mut asking = false;
        let mut redirects = 0;
        loop {
            let error = match self.send_to(&server, asking, commands).await {
                Ok(sent) => return Ok(sent),
                Err(error) => error,
            };
            redirects += 1;
            let redirect = Redirect::of(&server, &error)
                .filter(|_| redirects <= REDIRECTS_MAX && !self.servers.is_fixed());
            match redirect {
                Some(Redirect::Moved(to)) => {
                    self.servers.moved(slot, &to);
                    (server, asking) = (to, false);
                }
                Some(Redirect::Ask(to)) => (server, asking) = (to, true),
                None => {
                    self.doubt(&server, &error);
                    return Err(Unsent::Failed { server, error });
                }
            }
        }
    }

    async fn send_to(
        &self,
        server: &Address,
        asking: bool,
        commands: &[&Cmd],
    ) -> RedisResult<Sent> {
        let server = server.clone();
        if let ([command], false) = (commands, asking) {
            let answer = self.pool.send(&server, command).await?;
            let behind = Vec::new();
            return Ok(Sent {
                server,
                answer,
                behind,
            });
        }
        let mut pipeline = Pipeline::with_capacity(commands.len() + 1);
        if asking {
            pipeline.cmd("ASKING");
        }
        for &command in commands {
            pipeline.add_command(command.clone());
        }
        let mut answers = self.pool.send_all(&server, &pipeline).await?.into_iter();
        if asking {
            answers.next();
        }
        let answer = answers.next().unwrap_or(Value::Nil).extract_error()?;
        Ok(Sent {
            server,
            answer,
            behind: answers.collect(),
        })
    }

    /// Whoever does not answer, or not for these keys, may have been replaced.
    fn doubt(&self, server: &Address, error: &RedisError) {
        if is_broken(error) || is_elsewhere(error) {
            self.servers.doubt(server);
        }
    }

    fn failed(&self, unsent: Unsent) -> Failed {
        match unsent {
            Unsent::Lost(lost) => lost.into(),
            // It may be another one's turn in a moment.
            Unsent::Failed { error, .. } if !self.servers.is_fixed() && is_passing(&error) => {
                Failed::Unknown(unavailable(&error))
            }
            Unsent::Failed { error, .. } => error.into(),
        }
    }
}

impl Redirect {
    fn of(server: &Address, error: &RedisError) -> Option<Self> {
        let (named, _) = error.redirect_node()?;
        let (host, port) = named.rsplit_once(':')?;
        let to = server.neighbour(host, port.parse().ok()?);
        match error.kind() {
            ErrorKind::Server(ServerErrorKind::Ask) => Some(Self::Ask(to)),
            _ => Some(Self::Moved(to)),
        }
    }
}

/// Whether a group of servers may get over it by itself.
fn is_passing(error: &RedisError) -> bool {
    is_elsewhere(error) || error.code() == Some("NOREPLICAS")
}

/// The error has no code of its own.
fn is_unknown_function(error: &RedisError) -> bool {
    matches!(error.kind(), ErrorKind::Server(_)) && error.detail() == Some("Function not found")
}

/// Whether the server has said no: nothing was done, and asking again at once would not help.
pub(super) fn is_refusal(error: &RedisError) -> bool {
    match error.kind() {
        ErrorKind::Server(
            ServerErrorKind::BusyLoading
            | ServerErrorKind::TryAgain
            | ServerErrorKind::ClusterDown
            | ServerErrorKind::MasterDown,
        ) => false,
        // The library was thrown away again right after it was loaded.
        ErrorKind::Server(_) if is_unknown_function(error) => false,
        ErrorKind::Server(_) | ErrorKind::AuthenticationFailed | ErrorKind::Extension => true,
        _ => false,
    }
}

const NO_RIGHT: &str = "the Redis user may not do what is needed: see docs/REDIS.md for its rights, and ACL LOG for what was refused";

/// What is wrong, worded for the operator.
pub(super) fn unavailable(error: &RedisError) -> StoreError {
    StoreError::Unavailable(words(error).into())
}

fn words(error: &RedisError) -> String {
    let advice = match error.code().unwrap_or_default() {
        "OOM" => "Redis is out of memory: raise maxmemory",
        "MISCONF" => "Redis cannot write its data to disk: look at its log and its disk",
        "READONLY" => "this Redis is a replica and takes no writes: name its master",
        "MOVED" | "ASK" => "this Redis is part of a Cluster: write redis+cluster:// in its address",
        "TRYAGAIN" => "the room's slot is being moved to another server of the Cluster",
        "CLUSTERDOWN" => "the Cluster has no owner for the room's slot: see CLUSTER INFO",
        "LOADING" => "Redis is still loading its data",
        "BUSY" => "Redis is busy with a script of somebody else",
        "NOREPLICAS" => "Redis wants more replicas than it has (min-replicas-to-write)",
        "NOAUTH" | "WRONGPASS" => "Redis refuses the user or password of the store's address",
        "NOPERM" => NO_RIGHT,
        "WRONGTYPE" => {
            "the room was written by an earlier version, or its keys by another program: see the CHANGELOG"
        }
        // What is said of a command in a function has no code of its own.
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
