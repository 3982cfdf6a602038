//! Makes a cluster of servers that know nothing of each other.

use super::{
    super::{
        addresses::Addresses,
        process::wait_until,
        servers::{PATIENCE, TestServers, start_server},
    },
    ClusterOptions, MASTERS, SERVERS, SLOTS, view,
};

/// Replicas stay with their masters, and what is left of a cluster goes on.
const CLUSTER: &str = "\
cluster-enabled yes
cluster-config-file nodes.conf
cluster-replica-validity-factor 0
cluster-require-full-coverage no
cluster-allow-replica-migration no";

pub(super) fn start(addresses: &Addresses, options: &ClusterOptions) -> TestServers {
    let start = |server| {
        let at = addresses.nth(server);
        let mut lines = vec![CLUSTER.to_owned()];
        lines.push(format!("cluster-announce-ip {}", at.ip()));
        lines.push(format!(
            "cluster-node-timeout {}",
            options.node_timeout.as_millis()
        ));
        lines.extend_from_slice(&options.settings);
        start_server(at, options.persistence, options.clocks, &lines)
    };
    TestServers::of((0..SERVERS).map(start).collect())
}

/// Gives the slots to the masters and replicas to these; says the servers' ids.
pub(super) fn join(servers: &TestServers) -> Vec<String> {
    let all = 0..servers.count();
    let ids: Vec<_> = all
        .clone()
        .map(|it| servers.cli(it, &["CLUSTER", "MYID"]))
        .collect();
    for master in 0..usize::from(MASTERS) {
        give_slots(servers, master);
    }
    for server in all.clone() {
        let epoch = (server + 1).to_string();
        order(servers, server, &["SET-CONFIG-EPOCH", &epoch]);
    }
    for server in all.clone().skip(1) {
        let (ip, port) = (
            servers.ip(server).to_string(),
            servers.address(server).port(),
        );
        order(servers, 0, &["MEET", &ip, &port.to_string()]);
    }
    wait_until(PATIENCE, "all have met", || {
        all.clone()
            .all(|server| has_met(servers, server))
            .then_some(())
    });
    for replica in usize::from(MASTERS)..servers.count() {
        let master = replica - usize::from(MASTERS);
        order(servers, replica, &["REPLICATE", &ids[master]]);
    }
    ids
}

fn give_slots(servers: &TestServers, master: usize) {
    let bound = |nth: usize| nth * usize::from(SLOTS) / usize::from(MASTERS);
    let (first, last) = (bound(master), bound(master + 1) - 1);
    order(
        servers,
        master,
        &["ADDSLOTSRANGE", &first.to_string(), &last.to_string()],
    );
}

fn has_met(servers: &TestServers, server: usize) -> bool {
    let answer = servers.ask(server, &["CLUSTER", "NODES"]);
    let seen = view::read(&answer.unwrap_or_default());
    seen.len() == servers.count() && seen.iter().all(|seen| seen.is_well() && seen.ip.is_some())
}

/// Sends a server a command of the cluster that it cannot refuse.
pub(super) fn order(servers: &TestServers, server: usize, command: &[&str]) {
    let command = [&["CLUSTER"], command].concat();
    let answer = servers.cli(server, &command);
    assert_eq!(answer, "OK", "{command:?} to server {server}");
}
