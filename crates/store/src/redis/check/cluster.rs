//! What a Cluster is told that puts lines at risk.

use super::{
    super::{link::Link, servers::Shard},
    setting,
};

/// An owner that is silent for less than this may only be busy with its disk.
const NODE_TIMEOUT_MIN_MS: u64 = 2_000;

pub(super) async fn warnings(link: &Link, shards: &[Shard]) -> Vec<String> {
    let mut warnings = Vec::new();
    for shard in shards {
        let owner = &shard.owner;
        if shard.replicas.is_empty() {
            warnings.push(format!(
                "Redis {owner} has no replica, so the rooms of its slots are away as long as it is: give it one with CLUSTER REPLICATE"
            ));
        }
        let node_timeout = setting(link, owner, "cluster-node-timeout").await;
        let node_timeout = node_timeout.and_then(|ms| ms.parse::<u64>().ok());
        if let Some(ms) = node_timeout.filter(|ms| *ms < NODE_TIMEOUT_MIN_MS) {
            warnings.push(format!(
                "The Cluster takes a server for dead that is silent for {ms} ms, also when it is only busy: set cluster-node-timeout to {NODE_TIMEOUT_MIN_MS} or more"
            ));
        }
        let full = setting(link, owner, "cluster-require-full-coverage").await;
        if full.is_some_and(|full| full == "yes") {
            warnings.push(
                "The Cluster stops the rooms of all servers when one of them is away: set cluster-require-full-coverage no".to_owned(),
            );
        }
    }
    warnings
}
