//! What a store on Redis stands on: one server, or several that take each other's place.

use std::net::SocketAddrV4;

use ropeline_testing::{TestCluster, TestRedis, TestSentinels, TestServers};

/// A key of the room that every story begins with.
const ROOM: &str = "rl:{main}:room";

/// One Redis or several.
pub(crate) trait Backing: Send + Sync {
    /// As `--store` takes it.
    fn url(&self) -> String;

    /// The address of the server that has the room `main`.
    fn direct(&self) -> String;

    /// Waits until all servers are well after a crash.
    fn recover(&mut self) {}

    /// Forgets everything.
    fn flush(&mut self);

    /// Whoever has the room `main` dies. It comes back, or others take its place.
    fn crash(&mut self);
}

impl Backing for TestRedis {
    fn url(&self) -> String {
        self.url()
    }

    fn direct(&self) -> String {
        self.url()
    }

    fn flush(&mut self) {
        self.cli(&["FLUSHALL"]);
    }

    fn crash(&mut self) {
        self.kill();
        self.start_again();
    }
}

impl Backing for TestSentinels {
    fn url(&self) -> String {
        self.url()
    }

    fn direct(&self) -> String {
        address(self.address(self.master()))
    }

    fn recover(&mut self) {
        self.wait_whole();
    }

    fn flush(&mut self) {
        empty(self.servers(), self.master());
    }

    fn crash(&mut self) {
        let master = self.master();
        self.kill(master);
        self.wait_for_new_master(master);
        self.start_again(master);
    }
}

impl Backing for TestCluster {
    fn url(&self) -> String {
        self.url()
    }

    fn direct(&self) -> String {
        address(self.address(self.owner_of(ROOM)))
    }

    fn recover(&mut self) {
        self.wait_whole();
    }

    fn flush(&mut self) {
        let masters = (0..self.count()).filter(|server| is_master(self.servers(), *server));
        masters.for_each(|master| empty(self.servers(), master));
    }

    fn crash(&mut self) {
        let owner = self.owner_of(ROOM);
        self.kill(owner);
        self.wait_for_new_owner(ROOM, owner);
        self.start_again(owner);
        self.wait_whole();
    }
}

fn address(at: SocketAddrV4) -> String {
    format!("redis://{at}")
}

fn is_master(servers: &TestServers, server: usize) -> bool {
    servers.cli(server, &["ROLE"]).starts_with("master")
}

fn empty(servers: &TestServers, master: usize) {
    servers.cli(master, &["FLUSHALL"]);
    servers.wait_copied(master);
}
