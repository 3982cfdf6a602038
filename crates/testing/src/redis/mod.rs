//! A real Redis of the test's own.

mod addresses;
mod clock;
mod cluster;
mod partition;
mod process;
mod sentinel;
mod servers;
mod standalone;

use std::{
    net::{Ipv4Addr, SocketAddrV4, TcpListener},
    path::Path,
};

use tempfile::TempDir;

use self::process::{Process, directory_on_no_disk};
pub use self::{
    cluster::{ClusterOptions, Moving, TestCluster},
    partition::{Cut, Side},
    sentinel::{Pace, SentinelOptions, TestSentinels},
    servers::{Clocks, TestServers},
    standalone::TestStandalone,
};

/// Whether what was written survives a restart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Persistence {
    /// Nothing does.
    None,
    /// All but the last second does.
    EverySecond,
    /// All of it does.
    Always,
}

impl Persistence {
    /// When a server that writes down waits for its disk.
    fn fsync(self) -> Option<&'static str> {
        match self {
            Self::None => None,
            Self::EverySecond => Some("everysec"),
            Self::Always => Some("always"),
        }
    }
}

/// A script that changes a field of a room other than `version`, `issued` and `clock_last`.
///
/// KEYS 1 the room; ARGV 1 the field, 2 its value, without which it is absent.
pub const SET_ROOM_FIELD: &str = "\
    local version, issued, clock_last, rest = cmsgpack.unpack(redis.call('GET', KEYS[1]))\n\
    rest[ARGV[1]] = ARGV[2]\n\
    return redis.call('SET', KEYS[1], cmsgpack.pack(version, issued, clock_last, rest))";

/// A Redis server on a port and in a directory of its own, stopped when dropped.
#[derive(Debug)]
pub struct TestRedis {
    process: Process,
}

impl TestRedis {
    /// A server that writes everything down at once.
    pub fn start() -> Self {
        Self::with(Persistence::Always, &[])
    }

    /// As [`TestRedis::start`], with its files in memory where there is such a place: what was written survives a
    /// kill, and no busy disk keeps it from answering.
    pub fn on_no_disk() -> Self {
        Self::in_directory(directory_on_no_disk(), Persistence::Always, &[])
    }

    /// A server with options of the command line beside those that every one has.
    pub fn with(persistence: Persistence, options: &[&str]) -> Self {
        let directory = tempfile::tempdir().expect("a directory for Redis");
        Self::in_directory(directory, persistence, options)
    }

    fn in_directory(directory: TempDir, persistence: Persistence, options: &[&str]) -> Self {
        let at = SocketAddrV4::new(Ipv4Addr::LOCALHOST, free_port());
        let arguments = arguments(directory.path(), at.port(), persistence, options);
        Self {
            process: Process::start(directory, at, arguments),
        }
    }

    /// Where it listens.
    pub fn port(&self) -> u16 {
        self.process.at().port()
    }

    /// The id of its process.
    pub fn process(&self) -> u32 {
        self.process.id()
    }

    /// Its address as `--store` takes it.
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}/", self.port())
    }

    /// The address of its Unix socket.
    pub fn socket_url(&self) -> String {
        format!(
            "redis+unix://{}",
            self.directory().join("redis.sock").display()
        )
    }

    /// The directory that it writes to.
    pub fn directory(&self) -> &Path {
        self.process.directory()
    }

    /// What `redis-cli` prints for a command.
    pub fn cli(&self, command: &[&str]) -> String {
        self.process.cli(command)
    }

    /// A field of the room `main` as the functions keep it; empty if it is absent.
    pub fn room_field(&self, field: &str) -> String {
        let read = "\
            local version, issued, clock_last, rest = cmsgpack.unpack(redis.call('GET', KEYS[1]))\n\
            rest.version, rest.issued, rest.clock_last = version, issued, clock_last\n\
            return rest[ARGV[1]]";
        self.cli(&["EVAL", read, "1", "rl:{main}:room", field])
    }

    /// Changes a field of the room `main`; without a value it is absent then.
    pub fn set_room_field(&self, field: &str, value: Option<&str>) {
        let mut command = vec!["EVAL", SET_ROOM_FIELD, "1", "rl:{main}:room", field];
        command.extend(value);
        assert_eq!(self.cli(&command), "OK");
    }

    /// Kills it as a crash would.
    pub fn kill(&mut self) {
        self.process.kill();
    }

    /// Starts it again after [`TestRedis::kill`], with what it has written down.
    pub fn start_again(&mut self) {
        self.process.start_again();
    }

    /// Kills it and starts it again with nothing.
    pub fn restart_empty(&mut self) {
        self.kill();
        self.process.forget();
        self.start_again();
    }

    /// Stops it in its tracks; connections stay open and nothing is answered.
    pub fn freeze(&self) {
        self.process.freeze();
    }

    /// Lets it go on after [`TestRedis::freeze`].
    pub fn thaw(&self) {
        self.process.thaw();
    }
}

/// A port that nobody listens on.
pub fn free_port() -> u16 {
    let probe = TcpListener::bind(("127.0.0.1", 0)).expect("there are free ports");
    probe.local_addr().expect("it is bound").port()
}

fn arguments(
    directory: &Path,
    port: u16,
    persistence: Persistence,
    options: &[&str],
) -> Vec<String> {
    let port = port.to_string();
    let directory = directory.to_str().expect("a temporary directory is text");
    let mut arguments = vec!["--port", &port, "--bind", "127.0.0.1", "--save", ""];
    arguments.extend(["--daemonize", "no", "--unixsocket", "redis.sock"]);
    arguments.extend(["--enable-debug-command", "yes"]);
    arguments.extend(["--dir", directory, "--logfile", "redis.log"]);
    if let Some(fsync) = persistence.fsync() {
        arguments.extend(["--appendonly", "yes", "--appendfsync", fsync]);
    }
    arguments.extend(options);
    arguments.into_iter().map(str::to_owned).collect()
}
