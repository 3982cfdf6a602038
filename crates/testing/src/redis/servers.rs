//! What servers of every group are and can do.

use std::{
    net::{Ipv4Addr, SocketAddrV4},
    path::Path,
    time::Duration,
};

use super::{
    Persistence,
    clock::WallClock,
    process::{Process, directory_on_no_disk, wait_until},
};

/// What every server of a group is told.
///
/// Each speaks from its own address too, so that those that are cut off by address can neither call nor be called.
/// The time-outs are short, so that a test sees within seconds what takes minutes in earnest.
const COMMON: &str = "\
protected-mode no
save \"\"
enable-debug-command yes
repl-diskless-sync yes
repl-diskless-sync-delay 0
repl-ping-replica-period 1
repl-timeout 4
";

/// What has not happened by then never will.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

/// Which wall clocks servers live by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Clocks {
    /// The machine's.
    #[default]
    Machine,
    /// One each, which [`TestServers::shift_clock`] moves.
    Own,
}

/// The servers of a group, told apart by their numbers from 0.
#[derive(Debug)]
pub struct TestServers {
    processes: Vec<Process>,
}

impl TestServers {
    pub(super) fn of(processes: Vec<Process>) -> Self {
        Self { processes }
    }

    /// How many there are, dead ones too.
    pub fn count(&self) -> usize {
        self.processes.len()
    }

    /// The address of one, which no other has.
    pub fn ip(&self, server: usize) -> Ipv4Addr {
        *self.address(server).ip()
    }

    /// Where one listens.
    pub fn address(&self, server: usize) -> SocketAddrV4 {
        self.processes[server].at()
    }

    /// The id of a server's process.
    pub fn process(&self, server: usize) -> u32 {
        self.processes[server].id()
    }

    /// The directory that one writes to.
    pub fn directory(&self, server: usize) -> &Path {
        self.processes[server].directory()
    }

    /// What `redis-cli` prints for a command to one; a frozen server lets it wait.
    pub fn cli(&self, server: usize, command: &[&str]) -> String {
        self.processes[server].cli(command)
    }

    /// Kills one as a crash would.
    pub fn kill(&mut self, server: usize) {
        self.processes[server].kill();
    }

    /// Starts one again after [`TestServers::kill`], with the settings and the data that it has written down.
    pub fn start_again(&mut self, server: usize) {
        self.processes[server].start_again();
    }

    /// Removes what a dead server has written down, but neither its settings nor its part in the group.
    pub fn forget(&self, server: usize) {
        self.processes[server].forget();
    }

    /// Moves the wall clock of one to this many seconds beyond the machine's.
    ///
    /// # Panics
    /// Unless it has a clock of its own ([`Clocks::Own`]).
    pub fn shift_clock(&self, server: usize, seconds: i64) {
        self.processes[server].shift_clock(seconds);
    }

    /// Stops one in its tracks; connections stay open and nothing is answered.
    pub fn freeze(&self, server: usize) {
        self.processes[server].freeze();
    }

    /// Lets one go on after [`TestServers::freeze`].
    pub fn thaw(&self, server: usize) {
        self.processes[server].thaw();
    }

    /// Waits until all replicas of a master have what it has been told until now.
    pub fn wait_copied(&self, master: usize) {
        let offset =
            |server, field| -> Option<u64> { self.replication(server, field)?.parse().ok() };
        let told = offset(master, "master_repl_offset").expect("the master answers");
        let replicas = (0..self.count()).filter(|&server| self.follows(server, master));
        for replica in replicas {
            wait_until(PATIENCE, "the replica has everything", || {
                offset(replica, "slave_repl_offset").filter(|&copied| copied >= told)
            });
        }
    }

    /// The server that listens there.
    pub(super) fn at(&self, ip: Ipv4Addr) -> Option<usize> {
        (0..self.count()).find(|&server| self.ip(server) == ip)
    }

    /// As [`TestServers::cli`]; nothing if it is dead, frozen or too slow.
    pub fn ask(&self, server: usize, command: &[&str]) -> Option<String> {
        self.processes[server].ask(command)
    }

    /// A line of `INFO replication`.
    pub(super) fn replication(&self, server: usize, field: &str) -> Option<String> {
        self.processes[server].ask_field(&["INFO", "replication"], field)
    }

    /// Whether it takes itself for a master.
    pub fn is_master(&self, server: usize) -> bool {
        self.replication(server, "role")
            .is_some_and(|role| role == "master")
    }

    /// Whether it copies everything from that master now.
    pub fn follows(&self, server: usize, master: usize) -> bool {
        let is = |field, wanted: &str| {
            self.replication(server, field)
                .is_some_and(|found| found == wanted)
        };
        is("role", "slave")
            && is("master_host", &self.ip(master).to_string())
            && is("master_link_status", "up")
            && self.streams_to(master, server)
    }

    /// Whether a master has heard from a replica how far it is.
    ///
    /// Up to a second before, both say that they are connected while the master still sends nothing of what it is
    /// told, and a crash loses it all.
    fn streams_to(&self, master: usize, replica: usize) -> bool {
        let Some(answer) = self.ask(master, &["INFO", "replication"]) else {
            return false;
        };
        let replica = format!("ip={},", self.ip(replica));
        let mut lines = answer.lines().filter(|line| line.starts_with("slave"));
        lines.any(|line| {
            line.contains(&replica) && line.contains("state=online") && !line.contains("offset=0,")
        })
    }
}

/// Starts a server of a group from a file, which it rewrites when its part in the group changes.
pub(super) fn start_server(
    at: SocketAddrV4,
    persistence: Persistence,
    clocks: Clocks,
    lines: &[String],
) -> Process {
    let fsync = persistence.fsync().map_or_else(
        || "appendonly no\n".to_owned(),
        |fsync| format!("appendonly yes\nappendfsync {fsync}\n"),
    );
    let ip = at.ip();
    let announce = format!("replica-announce-ip {ip}\n");
    let settings = format!("{COMMON}{fsync}{announce}{}\n", lines.join("\n"));
    start_from_file(at, clocks, &settings, &[])
}

/// Starts a process from a file with these settings and its address.
pub(super) fn start_from_file(
    at: SocketAddrV4,
    clocks: Clocks,
    settings: &str,
    options: &[&str],
) -> Process {
    let (ip, port) = (at.ip(), at.port());
    let directory = directory_on_no_disk();
    let path = directory.path().join("redis.conf");
    let place = directory.path().display();
    let own = format!(
        "bind {ip}\nbind-source-addr {ip}\nport {port}\ndir {place}\nlogfile redis.log\ndaemonize no\n"
    );
    std::fs::write(&path, own + settings).expect("its directory is ours");
    let path = path.to_str().expect("a temporary directory is text");
    let arguments = [&[path], options].concat();
    let arguments = arguments.into_iter().map(str::to_owned).collect();
    let clock = (clocks == Clocks::Own).then(WallClock::new);
    Process::start_by(clock, directory, at, arguments)
}
