//! The owners of slots, as the servers of a Cluster know them.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::RangeInclusive,
};

use redis::{FromRedisValue, Value};

use super::{
    ASKED, Lost, Seen, Shard,
    map::Map,
    votes::{Answers, ask_all, first_reason, most_said},
};
use crate::redis::{
    pool::Pool,
    slot::Slot,
    url::{Address, RedisUrl},
};

/// A Cluster, of which some servers are named.
#[derive(Debug)]
pub(super) struct Cluster {
    named: Vec<Address>,
    pool: Pool,
}

impl Cluster {
    pub(super) fn new(url: &RedisUrl, named: &[Address]) -> Self {
        let url = url.clone();
        Self {
            named: named.to_vec(),
            pool: Pool::new(Box::new(move |server| url.client_of(server)), ASKED),
        }
    }

    /// The slots as most of the servers that are named or known see them. An owner is vouched for if most of all owners,
    /// also of those that do not answer, see it as one.
    pub(super) async fn look(&self, known: &BTreeSet<Address>) -> Result<Seen, Lost> {
        let asked: BTreeSet<_> = self.named.iter().chain(known).collect();
        let answers = self.ask(asked).await;
        let maps = answers.iter().filter_map(|(server, said)| {
            let said = said.as_ref().ok()?;
            let map = read(server, said);
            let has_owners = map.owners().next().is_some();
            has_owners.then_some((server, map))
        });
        let maps: Vec<_> = maps.collect();
        let map = most_said(maps.iter().map(|(_, map)| map.clone()).collect());
        let map = map.ok_or_else(|| why_none(&answers))?;
        let owners: BTreeSet<_> = map.owners().cloned().collect();
        let epochs = self.config_epochs(&owners).await;
        let is_vouched_for = |owner: &Address| {
            let voters = maps.iter().filter(|(voter, _)| owners.contains(*voter));
            let votes = voters.filter(|(_, map)| map.owners().any(|named| named == owner));
            votes.count() * 2 > owners.len()
        };
        let vouched = owners.iter().filter(|owner| is_vouched_for(owner));
        let vouched = vouched.map(|owner| (owner.clone(), epochs.get(owner).copied()));
        Ok(Seen {
            vouched: vouched.collect(),
            map,
        })
    }

    /// The epoch in which each server became what it is, as it says itself.
    async fn config_epochs(&self, servers: &BTreeSet<Address>) -> BTreeMap<Address, u64> {
        let command = redis::cmd("CLUSTER").arg("INFO").clone();
        let answers = ask_all(&self.pool, servers, &command).await;
        let epochs = answers.into_iter().filter_map(|(server, said)| {
            let info = String::from_redis_value(said.ok()?).ok()?;
            let epoch = info
                .lines()
                .find_map(|line| line.strip_prefix("cluster_my_epoch:"));
            Some((server, epoch?.trim().parse().ok()?))
        });
        epochs.collect()
    }

    /// Whether most of the owners of slots, also of those that do not answer, take this server for one of them.
    pub(super) async fn vouch_for(&self, server: &Address, owners: &BTreeSet<Address>) -> bool {
        let answers = self.ask(owners).await;
        let votes = answers.iter().filter(|(asked, said)| {
            let map = said.as_ref().map(|said| read(asked, said));
            map.is_ok_and(|map| map.owners().any(|owner| owner == server))
        });
        votes.count() * 2 > owners.len()
    }

    /// The owners and their replicas, as the first who answers sees them.
    pub(super) async fn shards(&self, owners: &BTreeSet<Address>) -> Vec<Shard> {
        let answers = self.ask(owners).await;
        let first = answers
            .iter()
            .find_map(|(server, said)| Some((server, said.as_ref().ok()?)));
        let mut shards: BTreeMap<Address, Vec<Address>> = BTreeMap::new();
        let ranges = first.map_or_else(Vec::new, |(server, said)| ranges(server, said));
        for (_, mut servers) in ranges {
            let owner = servers.remove(0);
            shards.insert(owner, servers);
        }
        let each = shards
            .into_iter()
            .map(|(owner, replicas)| Shard { owner, replicas });
        each.collect()
    }

    async fn ask<'a>(&self, servers: impl IntoIterator<Item = &'a Address>) -> Answers {
        let command = redis::cmd("CLUSTER").arg("SLOTS").clone();
        ask_all(&self.pool, servers, &command).await
    }
}

fn why_none(answers: &Answers) -> Lost {
    let mut errors = answers.iter().filter_map(|(server, answer)| {
        let error = answer.as_ref().err()?;
        let no_cluster = error
            .detail()
            .is_some_and(|said| said.contains("cluster support disabled"));
        match error.code() {
            _ if no_cluster => Some(format!(
                "{server} is a single Redis and no part of a Cluster: write redis://"
            )),
            Some("NOAUTH" | "WRONGPASS" | "NOPERM") => Some(format!(
                "{server} does not take this user and password, or does not allow CLUSTER SLOTS ({error})"
            )),
            _ => None,
        }
    });
    match errors.next() {
        Some(refused) => Lost::Refused(refused),
        None if answers.iter().any(|(_, answer)| answer.is_ok()) => Lost::NoOwner(Slot(0)),
        None => Lost::NoCluster(first_reason(answers)),
    }
}

/// What one server says.
fn read(server: &Address, said: &Value) -> Map {
    let ranges = ranges(server, said).into_iter();
    Map::of_ranges(
        ranges
            .map(|(slots, mut servers)| (slots, servers.remove(0)))
            .collect(),
    )
}

/// Ranges of slots, each with its servers, of which the first is the owner.
fn ranges(server: &Address, said: &Value) -> Vec<(RangeInclusive<Slot>, Vec<Address>)> {
    let Value::Array(ranges) = said else {
        return Vec::new();
    };
    let each = ranges.iter().filter_map(|range| {
        let Value::Array(parts) = range else {
            return None;
        };
        let [first, last, servers @ ..] = parts.as_slice() else {
            return None;
        };
        let servers: Option<Vec<_>> = servers.iter().map(|named| address(server, named)).collect();
        let slots = Slot(number(first)?)..=Slot(number(last)?);
        Some((slots, servers.filter(|servers| !servers.is_empty())?))
    });
    each.collect()
}

/// `[host, port, ...]`. A server that does not know its own name leaves it out.
fn address(server: &Address, named: &Value) -> Option<Address> {
    let Value::Array(parts) = named else {
        return None;
    };
    let [host, port, ..] = parts.as_slice() else {
        return None;
    };
    let host = Option::<String>::from_redis_value(host.clone()).ok()?;
    let host = host.filter(|host| host != "?").unwrap_or_default();
    Some(server.neighbour(&host, number(port)?))
}

fn number(value: &Value) -> Option<u16> {
    u16::from_redis_value(value.clone()).ok()
}
