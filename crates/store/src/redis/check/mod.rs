//! What is looked at before a Redis is trusted with a line.
//!
//! What cannot be looked at, because a managed service keeps it to itself, is not complained of.

mod cluster;
mod sentinel;
mod server;

use std::collections::BTreeSet;

use super::{
    Unreached,
    link::Link,
    servers::{Group, Servers},
    url::Address,
};

/// Checks the servers and who watches over them; says what their settings put at risk.
pub(super) async fn check(link: &Link, servers: &Servers) -> Result<Vec<String>, Unreached> {
    let masters = servers.owners();
    let group = servers.group().await;
    let replicas = group.replicas();
    let several = masters.len() + replicas.len() > 1;
    let which = |server: &Address| {
        if several {
            format!("Redis {server}")
        } else {
            "Redis".to_owned()
        }
    };
    let mut warnings = Vec::new();
    for master in &masters {
        warnings.extend(server::check(link, master, &which(master)).await?);
    }
    for replica in &replicas {
        warnings.extend(check_replica(link, replica, &which(replica)).await);
    }
    warnings.extend(match &group {
        Group::Single => Vec::new(),
        Group::Sentinels(watch) => {
            let mut warnings = sentinel::warnings(watch);
            for master in &masters {
                warnings.extend(cut_off_warning(link, master, &which(master)).await);
            }
            warnings
        }
        Group::Cluster(shards) => cluster::warnings(link, shards).await,
    });
    Ok(in_order(warnings))
}

/// A replica may be a master soon.
async fn check_replica(link: &Link, replica: &Address, which: &str) -> Vec<String> {
    match server::check(link, replica, which).await {
        Ok(warnings) => warnings,
        Err(Unreached::Away(why) | Unreached::Refused(why)) => vec![format!(
            "{which}, a replica, cannot be reached from here, so nobody can join once it is the master: {why}"
        )],
    }
}

/// A master that is cut off from its replicas must stop by itself: nobody can tell it that it was replaced.
async fn cut_off_warning(link: &Link, master: &Address, which: &str) -> Option<String> {
    let replicas = setting(link, master, "min-replicas-to-write").await?;
    (replicas == "0").then(|| {
        format!(
            "{which} goes on alone when it is cut off from its replicas, and what it takes then is lost once another is promoted: set min-replicas-to-write 1 and min-replicas-max-lag 10 on all servers"
        )
    })
}

/// What a server says of one of its settings, if it may be asked.
async fn setting(link: &Link, server: &Address, name: &str) -> Option<String> {
    let get = redis::cmd("CONFIG").arg("GET").arg(name).clone();
    let pair: Vec<String> = link.query_at(server, &get).await.ok()?;
    pair.into_iter().nth(1)
}

/// Each once, as they came.
fn in_order(warnings: Vec<String>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let fresh = warnings
        .into_iter()
        .filter(|warning| seen.insert(warning.clone()));
    fresh.collect()
}
