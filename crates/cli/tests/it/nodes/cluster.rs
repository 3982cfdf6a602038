//! Nodes that can be killed, stopped and started again while others use them.

use std::{
    fs,
    net::SocketAddr,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use ropeline_core::Policy;
use ropeline_testing::{
    TestRedis,
    history::{Kind, Recorder, Target, Turn},
};

use crate::{
    process::{Server, Site},
    wait::until,
};

/// One key for all, as behind one address.
pub(crate) const ADMIN_KEY: &str = "the-admin-key-of-all-nodes";
/// A node waits for its store at the start; a store that is not back by then never will be.
const READY_WITHIN: Duration = Duration::from_secs(90);

pub(crate) struct Cluster {
    nodes: Vec<Node>,
    fronts: Vec<SocketAddr>,
    keeping: Keeping,
}

/// Where the line is kept.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Keeping {
    /// In each node's own files.
    Apart,
    /// In one Redis for all.
    Shared,
}

struct Node {
    site: Site,
    server: Mutex<Option<Server>>,
}

impl Cluster {
    /// One node that keeps the line in its own files.
    pub(crate) fn alone(policy: &Policy) -> Self {
        Self::apart(policy, 1)
    }

    /// Nodes that take each other's tokens, and each keep a line of their own.
    pub(crate) fn apart(policy: &Policy, nodes: usize) -> Self {
        let sites = (0..nodes).map(|_| Site::new(&settings(policy)));
        Self::apart_at(sites.collect())
    }

    /// As [`Cluster::apart`], at sites without a store.
    pub(crate) fn apart_at(mut sites: Vec<Site>) -> Self {
        let others = sites.split_off(1);
        let mut nodes: Vec<_> = sites.into_iter().map(Node::start).collect();
        for site in others {
            fs::create_dir(site.data()).expect("a fresh site");
            let keys = |site: &Site| site.data().join("keys.json");
            fs::copy(keys(&nodes[0].site), keys(&site)).expect("made by the first start");
            nodes.push(Node::start(site));
        }
        Self::of(nodes, Keeping::Apart)
    }

    /// Nodes on one Redis.
    pub(crate) fn sharing(redis: &TestRedis, policy: &Policy, nodes: usize) -> Self {
        let site = |_| Site::new(&settings(policy)).with_flag("--store", &redis.url());
        Self::at((0..nodes).map(site))
    }

    /// Nodes at sites whose settings name a store that they share.
    pub(crate) fn at(sites: impl IntoIterator<Item = Site>) -> Self {
        let nodes = sites.into_iter().map(Node::start);
        Self::of(nodes.collect(), Keeping::Shared)
    }

    fn of(nodes: Vec<Node>, keeping: Keeping) -> Self {
        let fronts = nodes.iter().map(|node| node.site.address()).collect();
        Self {
            nodes,
            fronts,
            keeping,
        }
    }

    /// With something between the visitors and each node.
    pub(crate) fn behind(mut self, front: impl Fn(SocketAddr) -> SocketAddr) -> Self {
        self.fronts = self.fronts.into_iter().map(front).collect();
        self
    }

    /// A record that knows where the line is kept.
    pub(crate) fn recorder(&self, policy: &Policy) -> Recorder {
        let recorder = Recorder::start(policy.clone());
        match self.keeping {
            Keeping::Apart => recorder,
            Keeping::Shared => recorder.with_shared_store(),
        }
    }

    /// Where visitors find the nodes.
    pub(crate) fn addresses(&self) -> &[SocketAddr] {
        &self.fronts
    }

    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// `kill -9`, `meanwhile`, and a new start.
    pub(crate) fn kill(&self, node: usize, recorder: &Recorder, meanwhile: impl FnOnce()) {
        let mut server = self.nodes[node].server();
        self.note(recorder, node, Kind::Killed, Turn::On);
        if let Some(server) = server.take() {
            server.kill();
        }
        meanwhile();
        *server = Some(self.nodes[node].site.start());
        self.note(recorder, node, Kind::Killed, Turn::Off);
    }

    /// `SIGSTOP`, `meanwhile`, and `SIGCONT`.
    pub(crate) fn stop(&self, node: usize, recorder: &Recorder, meanwhile: impl FnOnce()) {
        let server = self.nodes[node].server();
        let server = server.as_ref().expect("a node runs unless it is killed");
        self.note(recorder, node, Kind::Stopped, Turn::On);
        server.freeze();
        meanwhile();
        server.thaw();
        self.note(recorder, node, Kind::Stopped, Turn::Off);
    }

    /// `kill -9`, until [`Cluster::start`].
    pub(crate) fn end(&self, node: usize) {
        if let Some(server) = self.nodes[node].server().take() {
            server.kill();
        }
    }

    /// Removes the data directory of a node that was killed.
    pub(crate) fn lose_data(&self, node: usize) {
        fs::remove_dir_all(self.nodes[node].site.data()).expect("made by the first start");
    }

    /// Starts a node that was killed, and again whenever it gives up, as a service manager would.
    pub(crate) fn start(&self, node: usize) {
        let Node { site, server } = &self.nodes[node];
        let mut server = server.lock().unwrap_or_else(PoisonError::into_inner);
        until(READY_WITHIN, "the node is ready", || {
            let running = server.get_or_insert_with(|| site.launch("serve"));
            if running.ended().is_some() {
                *server = None;
                return None;
            }
            running.is_ready().then_some(())
        });
    }

    /// `SIGSTOP`, until [`Cluster::thaw`].
    pub(crate) fn freeze(&self, node: usize) {
        self.running(node, Server::freeze);
    }

    /// `SIGCONT`.
    pub(crate) fn thaw(&self, node: usize) {
        self.running(node, Server::thaw);
    }

    fn running(&self, node: usize, act: impl FnOnce(&Server)) {
        let server = self.nodes[node].server();
        act(server.as_ref().expect("a node runs unless it is killed"));
    }

    /// What befalls a node that keeps the line befalls the line.
    fn note(&self, recorder: &Recorder, node: usize, kind: Kind, turn: Turn) {
        recorder.fault(kind, Target::Node(node), turn);
        if self.keeping == Keeping::Apart {
            recorder.fault(kind, Target::Store, turn);
        }
    }
}

impl Node {
    fn start(site: Site) -> Self {
        let site = site.with_flag("--admin-key", ADMIN_KEY);
        let server = Mutex::new(Some(site.start()));
        Self { site, server }
    }

    fn server(&self) -> MutexGuard<'_, Option<Server>> {
        self.server.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn settings(policy: &Policy) -> String {
    section("main", policy)
}

/// A room's policy as a section of the settings.
pub(crate) fn section(room: &str, policy: &Policy) -> String {
    let count = |name: &str, count: Option<u64>| Some(format!("{name} = {}", count?));
    let span = |name: &str, span: Duration| Some(format!("{name} = \"{}ms\"", span.as_millis()));
    let lines = [
        Some(format!("[rooms.{room}]")),
        count("batch", policy.batch),
        count("active_max", policy.active_max),
        span("every", policy.every),
        span("pass_ttl", policy.pass_ttl),
        span("pass_max", policy.pass_max),
        span("presence_ttl", policy.presence_ttl),
        span("missed_turn_ttl", policy.missed_turn_ttl),
    ];
    let lines: Vec<_> = lines.into_iter().flatten().collect();
    lines.join("\n")
}
