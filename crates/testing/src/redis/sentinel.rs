//! A master, its replicas, and the sentinels that replace it.

use std::{
    net::Ipv4Addr,
    ops::{Deref, DerefMut},
    time::Duration,
};

use super::{
    Persistence,
    addresses::Addresses,
    process::{Process, wait_until},
    servers::{Clocks, PATIENCE, TestServers, start_from_file, start_server},
};

/// What the sentinels call the master.
const NAME: &str = "mymaster";
const SERVERS: u8 = 3;
const SENTINELS: u8 = 3;
/// The sentinels' addresses begin here.
const SENTINELS_FROM: u8 = 100;

/// How soon sentinels see what has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// As in earnest: they look at servers every ten seconds and greet each other every two. A former master that comes
    /// back may stay a master for twenty seconds.
    Real,
    /// They look twice a second and greet four times. A former master that comes back is a replica a second or two
    /// later.
    Quick,
}

/// How a group with sentinels is set up.
#[derive(Debug, Clone)]
pub struct SentinelOptions {
    /// How long a server is silent before a sentinel takes it for dead.
    pub down_after: Duration,
    /// How long an attempt to replace the master may take; after twice that there is another.
    pub failover_timeout: Duration,
    /// Whether what the servers were told survives their restart.
    pub persistence: Persistence,
    /// How soon sentinels see what has changed.
    pub pace: Pace,
    /// Which wall clocks the servers live by; sentinels live by the machine's.
    pub clocks: Clocks,
    /// Lines for the servers' file of settings.
    pub settings: Vec<String>,
}

impl Default for SentinelOptions {
    fn default() -> Self {
        Self {
            down_after: Duration::from_secs(1),
            failover_timeout: Duration::from_secs(3),
            persistence: Persistence::Always,
            pace: Pace::Quick,
            clocks: Clocks::default(),
            settings: Vec::new(),
        }
    }
}

/// A master, two replicas and three sentinels of which two must agree, each at a loopback address of its own.
///
/// Server 0 is the first master.
#[derive(Debug)]
pub struct TestSentinels {
    servers: TestServers,
    sentinels: Vec<Process>,
    pace: Pace,
    _addresses: Addresses,
}

impl TestSentinels {
    /// A group with short time-outs that is whole.
    pub fn start() -> Self {
        Self::with(&SentinelOptions::default())
    }

    /// As [`TestSentinels::start`], set up otherwise.
    pub fn with(options: &SentinelOptions) -> Self {
        let addresses = Addresses::claim();
        let servers = start_servers(&addresses, options);
        // A sentinel learns of the replicas from the master when it first looks, and looks again much later.
        wait_until(PATIENCE, "the replicas follow the master", || {
            let follow = (1..servers.count()).all(|replica| servers.follows(replica, 0));
            follow.then_some(())
        });
        let sentinels = start_sentinels(&addresses, options);
        let group = Self {
            servers,
            sentinels,
            pace: options.pace,
            _addresses: addresses,
        };
        group.hurry();
        group.wait_whole();
        group
    }

    /// The group's address as `--store` takes it.
    pub fn url(&self) -> String {
        let hosts: Vec<_> = self
            .sentinels
            .iter()
            .map(|it| it.at().to_string())
            .collect();
        format!("redis+sentinel://{}/{NAME}", hosts.join(","))
    }

    /// What the sentinels call the master.
    pub fn name(&self) -> &'static str {
        NAME
    }

    /// The servers, without their sentinels.
    pub fn servers(&self) -> &TestServers {
        &self.servers
    }

    /// The server that most sentinels name as the master.
    pub fn master(&self) -> usize {
        wait_until(PATIENCE, "two sentinels name the same master", || {
            self.named_master()
        })
    }

    /// The address of a sentinel, which no other has.
    pub fn sentinel_ip(&self, sentinel: usize) -> Ipv4Addr {
        *self.sentinels[sentinel].at().ip()
    }

    /// What `redis-cli` prints for a command to a sentinel.
    pub fn sentinel_cli(&self, sentinel: usize, command: &[&str]) -> String {
        self.sentinels[sentinel].cli(command)
    }

    /// Kills a sentinel as a crash would.
    pub fn kill_sentinel(&mut self, sentinel: usize) {
        self.sentinels[sentinel].kill();
    }

    /// Starts a sentinel again after [`TestSentinels::kill_sentinel`], with what it has written down.
    pub fn start_sentinel_again(&mut self, sentinel: usize) {
        self.sentinels[sentinel].start_again();
        self.hurry();
    }

    /// Waits until the sentinels name another master and it is one.
    pub fn wait_for_new_master(&self, old: usize) -> usize {
        wait_until(PATIENCE, "another master is named", || {
            let named = self.named_master().filter(|&named| named != old)?;
            self.servers.is_master(named).then_some(named)
        })
    }

    /// Waits until all servers and sentinels run, the replicas follow the master, and the sentinels know it all.
    pub fn wait_whole(&self) {
        wait_until(PATIENCE, "the group is whole", || {
            self.is_whole().then_some(())
        });
    }

    fn is_whole(&self) -> bool {
        let Some(master) = self.named_master() else {
            return false;
        };
        let replicas = (0..self.servers.count()).filter(|&server| server != master);
        self.servers.is_master(master)
            && replicas
                .into_iter()
                .all(|replica| self.servers.follows(replica, master))
            && self.sentinels.iter().all(|sentinel| {
                named_by(sentinel) == Some(self.servers.ip(master)) && knows_all(sentinel)
            })
    }

    /// The server that at least two sentinels name, if there is one: one that was cut off or has just started may
    /// name an old one.
    pub fn named_master(&self) -> Option<usize> {
        let named: Vec<_> = self.sentinels.iter().filter_map(named_by).collect();
        let agreed = |ip: &Ipv4Addr| named.iter().filter(|&it| it == ip).count() >= 2;
        let ip = named.iter().find(|&ip| agreed(ip))?;
        self.servers.at(*ip)
    }

    /// Sets the sentinels' pace, which they do not write down.
    ///
    /// They ask servers for a sign of life every second. With a patience of a second that is too seldom: a master that
    /// has just been promoted, and has not been asked yet, would be taken for dead. Nor may it be much more often: of a
    /// dead master's replicas only those are promoted that were looked at within five of these periods, and they are
    /// looked at once a second; if there is none, the next attempt comes after twice `failover_timeout`.
    fn hurry(&self) {
        let mut command = vec!["SENTINEL", "DEBUG", "ping-period", "400"];
        if self.pace == Pace::Quick {
            command.extend(["info-period", "500", "publish-period", "250"]);
        }
        for sentinel in &self.sentinels {
            sentinel.ask(&command);
        }
    }
}

impl Deref for TestSentinels {
    type Target = TestServers;

    fn deref(&self) -> &TestServers {
        &self.servers
    }
}

impl DerefMut for TestSentinels {
    fn deref_mut(&mut self) -> &mut TestServers {
        &mut self.servers
    }
}

fn start_servers(addresses: &Addresses, options: &SentinelOptions) -> TestServers {
    let master = addresses.nth(0);
    let replica_of = format!("replicaof {} {}", master.ip(), master.port());
    let start = |server| {
        let mut lines = options.settings.clone();
        if server > 0 {
            lines.push(replica_of.clone());
        }
        let at = addresses.nth(server);
        start_server(at, options.persistence, options.clocks, &lines)
    };
    TestServers::of((0..SERVERS).map(start).collect())
}

fn start_sentinels(addresses: &Addresses, options: &SentinelOptions) -> Vec<Process> {
    let master = addresses.nth(0);
    let down_after = options.down_after.as_millis();
    let failover_timeout = options.failover_timeout.as_millis();
    let start = |sentinel| {
        let at = addresses.nth(SENTINELS_FROM + sentinel);
        let settings = format!(
            "protected-mode no
sentinel announce-ip {own}
sentinel monitor {NAME} {master_ip} {master_port} 2
sentinel down-after-milliseconds {NAME} {down_after}
sentinel failover-timeout {NAME} {failover_timeout}
sentinel parallel-syncs {NAME} 2
",
            own = at.ip(),
            master_ip = master.ip(),
            master_port = master.port(),
        );
        start_from_file(at, Clocks::Machine, &settings, &["--sentinel"])
    };
    (0..SENTINELS).map(start).collect()
}

fn named_by(sentinel: &Process) -> Option<Ipv4Addr> {
    let answer = sentinel.ask(&["SENTINEL", "GET-MASTER-ADDR-BY-NAME", NAME])?;
    answer.lines().next()?.parse().ok()
}

/// Whether a sentinel sees a whole group: every server well, and every other sentinel.
fn knows_all(sentinel: &Process) -> bool {
    let Some(master) = sentinel.ask(&["SENTINEL", "MASTER", NAME]) else {
        return false;
    };
    let Some(replicas) = sentinel.ask(&["SENTINEL", "REPLICAS", NAME]) else {
        return false;
    };
    values(&master, "flags") == ["master"]
        && values(&master, "num-other-sentinels") == [(SENTINELS - 1).to_string()]
        && values(&replicas, "flags") == ["slave"; SERVERS as usize - 1]
        && values(&replicas, "master-link-status") == ["ok"; SERVERS as usize - 1]
}

/// The values of a field in an answer that has names and values on alternate lines.
fn values<'a>(answer: &'a str, field: &str) -> Vec<&'a str> {
    let lines: Vec<_> = answer.lines().collect();
    let pairs = lines.chunks_exact(2).filter(|pair| pair[0] == field);
    pairs.map(|pair| pair[1]).collect()
}
