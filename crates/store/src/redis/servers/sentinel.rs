//! The master that Sentinels name.

use std::{collections::BTreeMap, time::Duration};

use redis::{Cmd, ErrorKind, FromRedisValue, RedisError, RedisResult, Value};

use super::{
    ASKED, Group, Lost, Replica, Seen, Watch,
    map::Map,
    votes::{Answers, ask_all, first_reason, most_said},
};
use crate::redis::{
    pool::Pool,
    url::{self, Address, Login},
};

/// What they say of a server, by name.
type Fields = BTreeMap<String, String>;

/// Sentinels, and the name of the master that they watch.
#[derive(Debug)]
pub(super) struct Sentinels {
    all: Vec<Address>,
    name: String,
    pool: Pool,
}

impl Sentinels {
    pub(super) fn new(sentinels: &[Address], name: &str, login: Option<Login>) -> Self {
        let client_of = move |server: &Address| url::client(server, login.as_ref(), 0);
        Self {
            all: sentinels.to_vec(),
            name: name.to_owned(),
            pool: Pool::new(Box::new(client_of), ASKED),
        }
    }

    /// The master that most of them name, or if none of them runs, the one that was known.
    ///
    /// It is vouched for if most of all Sentinels name it or do not run: one whose machine refuses connections cannot
    /// take part in replacing a master, while one that is silent may have been cut off together with the others.
    pub(super) async fn look(&self, known: Option<&Address>) -> Result<Seen, Lost> {
        let answers = self.ask(&self.about("master")).await;
        let masters = masters(&answers);
        let dead = answers.iter().filter(|(_, answer)| is_dead(answer)).count();
        let named = masters.iter().map(|(master, _)| master.clone()).collect();
        let known = known.filter(|_| dead == self.all.len()).cloned();
        let Some(master) = most_said(named).or(known) else {
            let answers = self.ask(&self.about("get-master-addr-by-name")).await;
            return Err(self.why_none(&answers).await);
        };
        let terms = masters.iter().filter(|(named, _)| *named == master);
        let terms: Vec<_> = terms.map(|(_, term)| *term).collect();
        let is_majority = (terms.len() + dead) * 2 > self.all.len();
        // A Sentinel that lags behind the last failover has a lower one.
        let term = terms.into_iter().max();
        Ok(Seen {
            vouched: Vec::from_iter(is_majority.then(|| (master.clone(), term))),
            map: Map::of_one(master),
        })
    }

    /// Whether most of all Sentinels, also of those that do not answer, name this server, and none is about to
    /// replace it: the others hear of that only when it is done, and a replica that is promoted is one less to confirm.
    pub(super) async fn vouch_for(&self, server: &Address) -> bool {
        let answers = self.ask(&self.about("get-master-addr-by-name")).await;
        let votes = named(&answers)
            .iter()
            .filter(|named| *named == server)
            .count();
        votes * 2 > self.all.len() && !self.is_being_replaced(server).await
    }

    async fn is_being_replaced(&self, server: &Address) -> bool {
        let masters = self.ask(&self.about("master")).await;
        let mut masters = masters.iter().filter_map(read::<Fields>);
        masters.any(|(sentinel, master)| {
            let field = |name: &str| master.get(name).map(String::as_str).unwrap_or_default();
            let port = field("port").parse().unwrap_or_default();
            let fails_over = field("flags").contains("failover_in_progress");
            fails_over && sentinel.neighbour(field("ip"), port) == *server
        })
    }

    /// What they watch, as the first of them who answers sees it.
    pub(super) async fn watch(&self) -> Group {
        let masters = self.ask(&self.about("master")).await;
        let Some((sentinel, master)) = masters.iter().find_map(read::<Fields>) else {
            return Group::Single;
        };
        let replicas = self.pool.send(sentinel, &self.about("replicas")).await;
        let replicas = read::<Vec<Fields>>(&(sentinel.clone(), replicas))
            .map_or_else(Vec::new, |(_, replicas)| replicas);
        let number = |field: &str| master.get(field).and_then(|text| text.parse().ok());
        let others = number("num-other-sentinels").unwrap_or(0);
        Group::Sentinels(Watch {
            name: self.name.clone(),
            sentinels: usize::try_from(others)
                .unwrap_or(usize::MAX)
                .saturating_add(1),
            down_after: Duration::from_millis(
                number("down-after-milliseconds").unwrap_or(u64::MAX),
            ),
            replicas: replicas
                .iter()
                .filter_map(|replica| {
                    let port = replica.get("port")?.parse().ok()?;
                    Some(Replica {
                        address: sentinel.neighbour(replica.get("ip")?, port),
                        priority: replica.get("slave-priority")?.parse().ok()?,
                    })
                })
                .collect(),
        })
    }

    async fn ask(&self, command: &Cmd) -> Answers {
        ask_all(&self.pool, &self.all, command).await
    }

    fn about(&self, what: &str) -> Cmd {
        redis::cmd("SENTINEL").arg(what).arg(&self.name).clone()
    }

    /// Nobody has named a master: either nobody answers, or the name is wrong.
    async fn why_none(&self, answers: &Answers) -> Lost {
        let refused = answers.iter().find_map(|(server, answer)| {
            let error = answer.as_ref().err()?;
            refusal(server, error)
        });
        if let Some(refused) = refused {
            return refused;
        }
        if answers.iter().all(|(_, answer)| answer.is_err()) {
            return Lost::NoSentinel(first_reason(answers));
        }
        let masters = self.ask(redis::cmd("SENTINEL").arg("masters")).await;
        let mut names: Vec<_> = masters.iter().flat_map(names).collect();
        names.sort();
        names.dedup();
        Lost::NoMaster {
            name: self.name.clone(),
            known: match names.as_slice() {
                [] => "they watch none".to_owned(),
                names => format!("they watch {}", names.join(", ")),
            },
        }
    }
}

fn named(answers: &Answers) -> Vec<Address> {
    let each = answers.iter().filter_map(|answer| {
        let (sentinel, named) = read::<Option<(String, u16)>>(answer)?;
        let (host, port) = named?;
        Some(sentinel.neighbour(&host, port))
    });
    each.collect()
}

/// Whether a Sentinel's machine says that no Sentinel runs there.
fn is_dead(answer: &RedisResult<Value>) -> bool {
    answer
        .as_ref()
        .is_err_and(RedisError::is_connection_refusal)
}

/// The master that each of them names, with its config epoch.
fn masters(answers: &Answers) -> Vec<(Address, u64)> {
    let each = answers.iter().filter_map(|answer| {
        let (sentinel, master) = read::<Fields>(answer)?;
        let address = sentinel.neighbour(master.get("ip")?, master.get("port")?.parse().ok()?);
        let term = master.get("config-epoch")?.parse().ok()?;
        Some((address, term))
    });
    each.collect()
}

/// What one of them said, if it can be read.
fn read<T: FromRedisValue>(
    (sentinel, said): &(Address, RedisResult<Value>),
) -> Option<(&Address, T)> {
    let said = said.as_ref().ok()?.clone();
    Some((sentinel, T::from_redis_value(said).ok()?))
}

fn names(masters: &(Address, RedisResult<Value>)) -> Vec<String> {
    let masters = read::<Vec<Fields>>(masters).map_or_else(Vec::new, |(_, masters)| masters);
    let names = masters
        .into_iter()
        .filter_map(|mut fields| fields.remove("name"));
    names.collect()
}

/// What is no use waiting for.
fn refusal(server: &Address, error: &RedisError) -> Option<Lost> {
    let advice = match (error.kind(), error.code()) {
        (_, Some("NOAUTH" | "WRONGPASS")) => {
            "the Sentinel wants another password: write ?sentinel_user=USER&sentinel_pass=PASSWORD behind the address"
        }
        (_, Some("NOPERM")) => "the Sentinel does not allow us to ask it",
        (ErrorKind::Server(_), Some("ERR")) => {
            "this is no Sentinel: name the Sentinels (their usual port is 26379), or write redis:// for a single Redis"
        }
        (ErrorKind::AuthenticationFailed, _) => "the Sentinel refuses the user or password",
        _ => return None,
    };
    Some(Lost::Refused(format!("{server}: {advice} ({error})")))
}
