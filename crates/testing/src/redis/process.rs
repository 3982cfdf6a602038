//! One process of `redis-server`, and patience with it.

use std::{
    fs,
    io::{Read, Write},
    net::{SocketAddrV4, TcpStream},
    path::Path,
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use super::clock::WallClock;

/// How often it is looked whether what is waited for has happened.
const LOOK: Duration = Duration::from_millis(10);
/// A server that does not answer by then never will.
const START_MAX: Duration = Duration::from_secs(20);
/// How many seconds a server may take for an answer before it counts as silent.
const SILENT_AFTER: &str = "2";
/// How much of a log is shown when its server did not start.
const LOG_LINES: usize = 10;

/// A server that was started, in a directory of its own; killed when dropped.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    directory: TempDir,
    at: SocketAddrV4,
    arguments: Vec<String>,
    clock: Option<WallClock>,
    frozen: AtomicBool,
}

impl Process {
    /// Starts one and waits until it answers. It writes its log to `redis.log` in its directory.
    pub(super) fn start(directory: TempDir, at: SocketAddrV4, arguments: Vec<String>) -> Self {
        Self::start_by(None, directory, at, arguments)
    }

    /// As [`Process::start`], with a wall clock of its own.
    pub(super) fn start_by(
        clock: Option<WallClock>,
        directory: TempDir,
        at: SocketAddrV4,
        arguments: Vec<String>,
    ) -> Self {
        let child = launch(directory.path(), at, &arguments, clock.as_ref());
        Self {
            child,
            directory,
            at,
            arguments,
            clock,
            frozen: AtomicBool::new(false),
        }
    }

    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(super) fn at(&self) -> SocketAddrV4 {
        self.at
    }

    pub(super) fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// What `redis-cli` prints for a command, however long that takes.
    pub(super) fn cli(&self, command: &[&str]) -> String {
        run(Command::new("redis-cli"), self.at, command)
    }

    /// As [`Process::cli`]; nothing if it is dead, frozen or too slow.
    pub(super) fn ask(&self, command: &[&str]) -> Option<String> {
        if self.frozen.load(Ordering::Relaxed) {
            return None;
        }
        let mut limited = Command::new("timeout");
        limited.args([SILENT_AFTER, "redis-cli"]);
        Some(run(limited, self.at, command)).filter(|answer| !answer.is_empty())
    }

    /// One line of what `INFO` or a command alike says.
    pub(super) fn ask_field(&self, command: &[&str], field: &str) -> Option<String> {
        let answer = self.ask(command)?;
        let mut lines = answer.lines().filter_map(|line| line.split_once(':'));
        let (_, value) = lines.find(|(name, _)| *name == field)?;
        Some(value.trim_end().to_owned())
    }

    pub(super) fn kill(&mut self) {
        self.child.kill().expect("it is ours");
        self.child.wait().expect("it is ours");
        self.frozen.store(false, Ordering::Relaxed);
    }

    /// Starts it with the files that it had; one that still runs is killed before.
    pub(super) fn start_again(&mut self) {
        self.kill();
        let directory = self.directory.path();
        self.child = launch(directory, self.at, &self.arguments, self.clock.as_ref());
    }

    /// Removes what a dead server has written down, but neither its settings nor its part in a cluster.
    pub(super) fn forget(&self) {
        for entry in fs::read_dir(self.directory()).expect("its directory is there") {
            let path = entry.expect("its directory can be read").path();
            let is_data = path.extension().is_some_and(|extension| extension == "rdb");
            if path.is_dir() {
                fs::remove_dir_all(path).expect("its files are ours");
            } else if is_data {
                fs::remove_file(path).expect("its files are ours");
            }
        }
    }

    /// Moves its wall clock to this many seconds beyond the machine's.
    pub(super) fn shift_clock(&self, seconds: i64) {
        let clock = self.clock.as_ref();
        clock.expect("it has a clock of its own").shift(seconds);
    }

    pub(super) fn freeze(&self) {
        self.signal(Signal::STOP);
        self.frozen.store(true, Ordering::Relaxed);
    }

    pub(super) fn thaw(&self) {
        self.signal(Signal::CONT);
        self.frozen.store(false, Ordering::Relaxed);
    }

    fn signal(&self, signal: Signal) {
        let pid = Pid::from_child(&self.child);
        kill_process(pid, signal).expect("it is ours");
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// A directory in memory where there is such a place, so that no busy disk keeps a server from answering.
pub(super) fn directory_on_no_disk() -> TempDir {
    tempfile::tempdir_in("/dev/shm")
        .or_else(|_| tempfile::tempdir())
        .expect("a directory for Redis")
}

/// Looks again and again until there is something to see.
///
/// # Panics
/// If there is nothing after `limit`.
pub(super) fn wait_until<T>(limit: Duration, what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let start = now();
    loop {
        if let Some(seen) = look() {
            return seen;
        }
        assert!(
            now().duration_since(start) < limit,
            "{what}: not after {limit:?}"
        );
        std::thread::sleep(LOOK);
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "real servers take real time, which no clock of a test can move"
)]
fn now() -> Instant {
    Instant::now()
}

fn run(mut program: Command, at: SocketAddrV4, command: &[&str]) -> String {
    let output = program
        .args(["-h", &at.ip().to_string()])
        .args(["-p", &at.port().to_string()])
        .args(command)
        .output()
        .expect("redis-cli runs");
    String::from_utf8_lossy(&output.stdout)
        .trim_end()
        .to_owned()
}

fn launch(
    directory: &Path,
    at: SocketAddrV4,
    arguments: &[String],
    clock: Option<&WallClock>,
) -> Child {
    let mut child = Command::new("redis-server")
        .args(arguments)
        .envs(clock.into_iter().flat_map(WallClock::environment))
        .current_dir(directory)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .expect("redis-server is installed (./test does it)");
    let start = now();
    while child.try_wait().is_ok_and(|ended| ended.is_none()) {
        if answers(at) {
            return child;
        }
        if now().duration_since(start) > START_MAX {
            break;
        }
        std::thread::sleep(LOOK);
    }
    child.kill().ok();
    child.wait().ok();
    panic!(
        "Redis at {at} does not answer; its log ends with:\n{}",
        log_of(directory)
    );
}

fn log_of(directory: &Path) -> String {
    let log = fs::read_to_string(directory.join("redis.log")).unwrap_or_default();
    let lines: Vec<_> = log.lines().collect();
    lines[lines.len().saturating_sub(LOG_LINES)..].join("\n")
}

/// Whether it has loaded its data and answers; a refusal for want of a password is an answer too.
fn answers(at: SocketAddrV4) -> bool {
    let Ok(mut stream) = TcpStream::connect(at) else {
        return false;
    };
    let mut answer = [0; 5];
    stream.set_read_timeout(Some(Duration::from_secs(1))).ok();
    stream.write_all(b"PING\r\n").is_ok()
        && stream.read_exact(&mut answer).is_ok()
        && (&answer == b"+PONG" || &answer == b"-NOAU")
}
