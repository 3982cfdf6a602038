//! How many servers must have a write before it is answered.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use redis::{Cmd, FromRedisValue, Value};

use super::{
    encode::Call,
    link::{Link, Sent},
    pool::ANSWER_MAX,
    servers::Servers,
    transit::Failed,
    url::{Address, Place, RedisUrl},
    wire::{Answer, Status},
};
use crate::StoreError;

/// How long replicas have to confirm. Shorter than the wait for an answer, so that the server says that they did not.
const CONFIRM_MAX: Duration = ANSWER_MAX.checked_div(2).expect("two is not zero");

/// Who must have a join, a departure or an operator's word before it is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// The master alone.
    Master,
    /// A replica too, if there is one at all. What is answered without one is counted.
    Replica,
    /// A replica too; without one nothing is taken.
    Strict,
    /// Every replica that is connected, and there must be one.
    All,
}

impl Durability {
    /// What suits an address: several servers are there for replicas to confirm, and a single one is taken as it is.
    pub(super) fn of(url: &RedisUrl) -> Self {
        match url.place {
            Place::Server(_) => Self::Master,
            Place::Sentinels { .. } | Place::Cluster(_) => Self::Replica,
        }
    }
}

/// Calls functions and answers when what they wrote is as durable as the operator wants it.
#[derive(Debug)]
pub(super) struct Durable {
    rule: Durability,
    servers: Arc<Servers>,
    /// How many replicas of a server follow it closely enough to confirm.
    online: Mutex<BTreeMap<Address, u32>>,
    unreplicated: AtomicU64,
}

impl Durable {
    pub(super) fn new(rule: Durability, servers: &Arc<Servers>) -> Self {
        Self {
            rule,
            servers: Arc::clone(servers),
            online: Mutex::default(),
            unreplicated: AtomicU64::new(0),
        }
    }

    /// How many requests were answered although no replica has what they wrote.
    pub(super) fn unreplicated(&self) -> u64 {
        self.unreplicated.load(Ordering::Relaxed)
    }

    /// Calls a function over a connection that only writers have. Where too few replicas have confirmed, it may have
    /// been done all the same.
    pub(super) async fn run(&self, link: &Link, call: &Call) -> Result<Value, Failed> {
        if self.rule == Durability::Master || call.requests == 0 {
            return Ok(link.run_with(call, None).await?.answer);
        }
        let owner = self.servers.owner(call.slot).await?;
        let online = self.expected(link, &owner).await?;
        if online == 0 {
            self.check_alone(&owner).await?;
            let sent = link.run_with(call, None).await?;
            return Ok(self.take_alone(call, sent));
        }
        let wanted = match self.rule {
            Durability::All => online,
            _ => 1,
        };
        let sent = link.run_with(call, Some(&wait_for(wanted))).await?;
        let confirmed = confirmations(&sent)?;
        if confirmed >= wanted {
            return Ok(sent.answer);
        }
        let online = self.look(link, &sent.server).await?;
        if online == 0 && self.takes_alone(&sent.server).await {
            return Ok(self.take_alone(call, sent));
        }
        Err(too_few(confirmed, wanted))
    }

    /// Looks anew at the replicas of all servers that have keys.
    pub(super) async fn review(&self, link: &Link) {
        if self.rule == Durability::Master {
            return;
        }
        let owners = self.servers.owners();
        self.lock().retain(|server, _| owners.contains(server));
        for server in &owners {
            // Whoever writes there next hears of what is wrong.
            self.look(link, server).await.ok();
        }
    }

    /// How many replicas a call can count on. Where there was none it is looked each time.
    async fn expected(&self, link: &Link, owner: &Address) -> Result<u32, Failed> {
        let known = self.lock().get(owner).copied();
        match known.filter(|online| *online > 0) {
            Some(online) => Ok(online),
            None => self.look(link, owner).await,
        }
    }

    /// Whether a server without replicas may take what nobody else has: it may be about to be replaced.
    async fn takes_alone(&self, server: &Address) -> bool {
        self.rule == Durability::Replica && self.servers.is_vouched_for(server).await
    }

    async fn check_alone(&self, server: &Address) -> Result<(), Failed> {
        if self.takes_alone(server).await {
            return Ok(());
        }
        let why = match self.rule {
            Durability::Replica => "Redis has no replica and the others take it for replaced",
            _ => {
                "Redis has no replica to confirm what is written, which durability asks for: see INFO replication"
            }
        };
        Err(Failed::Refused(StoreError::Unavailable(why.into())))
    }

    fn take_alone(&self, call: &Call, sent: Sent) -> Value {
        if has_done(&sent.answer) {
            self.unreplicated
                .fetch_add(call.requests, Ordering::Relaxed);
        }
        sent.answer
    }

    async fn look(&self, link: &Link, server: &Address) -> Result<u32, Failed> {
        let info = redis::cmd("INFO").arg("replication").clone();
        let info: String = link.query_at(server, &info).await.inspect_err(|_| {
            self.lock().remove(server);
            self.servers.doubt(server);
        })?;
        let online = online_replicas(&info);
        self.note(server, online);
        Ok(online)
    }

    fn note(&self, server: &Address, online: u32) {
        let before = self.lock().insert(server.clone(), online);
        match (before, online) {
            (None | Some(1..), 0) => {
                tracing::warn!(%server, "Redis has no replica: what is written now is lost if it fails");
            }
            (Some(0), 1..) => {
                tracing::info!(%server, replicas = online, "Redis has replicas again");
            }
            _ => {}
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Address, u32>> {
        self.online.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn wait_for(replicas: u32) -> Cmd {
    let limit = CONFIRM_MAX.as_millis();
    let limit = u64::try_from(limit).unwrap_or(u64::MAX);
    redis::cmd("WAIT").arg(replicas).arg(limit).clone()
}

/// How many replicas have confirmed.
fn confirmations(sent: &Sent) -> Result<u32, Failed> {
    let said = sent.behind.first().cloned().unwrap_or(Value::Nil);
    let count = u32::from_redis_value(said.extract_error()?);
    Ok(count.map_err(redis::RedisError::from)?)
}

/// Whether a function has done what it was called for: one that is held, or fenced off, is called again.
fn has_done(answer: &Value) -> bool {
    Answer::read(answer, None).is_ok_and(|answer| answer.status == Status::Ok)
}

fn too_few(confirmed: u32, wanted: u32) -> Failed {
    Failed::Unknown(StoreError::Unavailable(
        format!("{confirmed} of {wanted} replicas have confirmed in time").into(),
    ))
}

/// Those that have caught up; one that still loads cannot confirm anything.
fn online_replicas(info: &str) -> u32 {
    let online = info
        .lines()
        .filter(|line| line.starts_with("slave") && line.contains("state=online"));
    u32::try_from(online.count()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_replicas_that_have_caught_up_count() {
        let info = "role:master\r\nconnected_slaves:2\r\n\
                    slave0:ip=10.0.0.2,port=6379,state=online,offset=15,lag=0\r\n\
                    slave1:ip=10.0.0.3,port=6379,state=wait_bgsave,offset=0,lag=0\r\n\
                    master_failover_state:no-failover\r\n";
        assert_eq!(online_replicas(info), 1);
        assert_eq!(online_replicas("role:slave\r\nslave_read_only:1\r\n"), 0);
    }
}
