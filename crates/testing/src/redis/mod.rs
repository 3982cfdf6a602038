//! A real Redis of the test's own.

use std::{
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    path::Path,
    process::{Child, Command, Stdio},
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

/// How often it is looked whether a server that was started answers.
const LOOK: Duration = Duration::from_millis(10);
/// A server that does not answer after so many looks never will.
const LOOKS_MAX: u32 = 1_000;

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

/// A Redis server on a port and in a directory of its own, stopped when dropped.
#[derive(Debug)]
pub struct TestRedis {
    process: Child,
    directory: TempDir,
    port: u16,
    persistence: Persistence,
    options: Vec<String>,
}

impl TestRedis {
    /// A server that writes everything down at once.
    pub fn start() -> Self {
        Self::with(Persistence::Always, &[])
    }

    /// As [`TestRedis::start`], with its files in memory where there is such a place: what was written survives a
    /// kill, and no busy disk keeps it from answering.
    pub fn on_no_disk() -> Self {
        let directory = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
        let directory = directory.expect("a directory for Redis");
        Self::in_directory(directory, Persistence::Always, &[])
    }

    /// A server with options of the command line beside those that every one has.
    pub fn with(persistence: Persistence, options: &[&str]) -> Self {
        let directory = tempfile::tempdir().expect("a directory for Redis");
        Self::in_directory(directory, persistence, options)
    }

    fn in_directory(directory: TempDir, persistence: Persistence, options: &[&str]) -> Self {
        let port = free_port();
        let options: Vec<_> = options.iter().map(|&option| option.to_owned()).collect();
        let process = launch(directory.path(), port, persistence, &options);
        Self {
            process,
            directory,
            port,
            persistence,
            options,
        }
    }

    /// Where it listens.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The id of its process.
    pub fn process(&self) -> u32 {
        self.process.id()
    }

    /// Its address as `--store` takes it.
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}/", self.port)
    }

    /// The address of its Unix socket.
    pub fn socket_url(&self) -> String {
        format!(
            "redis+unix://{}",
            self.directory.path().join("redis.sock").display()
        )
    }

    /// The directory that it writes to.
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// What `redis-cli` prints for a command.
    pub fn cli(&self, command: &[&str]) -> String {
        let output = Command::new("redis-cli")
            .args(["-p", &self.port.to_string()])
            .args(command)
            .output()
            .expect("redis-cli runs");
        String::from_utf8_lossy(&output.stdout)
            .trim_end()
            .to_owned()
    }

    /// Kills it as a crash would.
    pub fn kill(&mut self) {
        self.process.kill().expect("it runs");
        self.process.wait().expect("it is ours");
    }

    /// Starts it again after [`TestRedis::kill`], with what it has written down.
    pub fn start_again(&mut self) {
        self.process = launch(
            self.directory.path(),
            self.port,
            self.persistence,
            &self.options,
        );
    }

    /// Kills it and starts it again with nothing.
    pub fn restart_empty(&mut self) {
        self.kill();
        for entry in std::fs::read_dir(self.directory.path()).expect("its directory is there") {
            let path = entry.expect("its directory can be read").path();
            if path.is_dir() {
                std::fs::remove_dir_all(path).expect("its files are ours");
            } else {
                std::fs::remove_file(path).expect("its files are ours");
            }
        }
        self.start_again();
    }

    /// Stops it in its tracks; connections stay open and nothing is answered.
    pub fn freeze(&self) {
        self.signal(Signal::STOP);
    }

    /// Lets it go on after [`TestRedis::freeze`].
    pub fn thaw(&self) {
        self.signal(Signal::CONT);
    }

    fn signal(&self, signal: Signal) {
        let pid = Pid::from_child(&self.process);
        kill_process(pid, signal).expect("it is ours");
    }
}

impl Drop for TestRedis {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

/// A port that nobody listens on.
pub fn free_port() -> u16 {
    let probe = TcpListener::bind(("127.0.0.1", 0)).expect("there are free ports");
    probe.local_addr().expect("it is bound").port()
}

fn launch(directory: &Path, port: u16, persistence: Persistence, options: &[String]) -> Child {
    let fsync = match persistence {
        Persistence::None => None,
        Persistence::EverySecond => Some("everysec"),
        Persistence::Always => Some("always"),
    };
    let mut command = Command::new("redis-server");
    command
        .args(["--port", &port.to_string()])
        .args(["--bind", "127.0.0.1", "--save", "", "--daemonize", "no"])
        .args([
            "--unixsocket",
            "redis.sock",
            "--enable-debug-command",
            "yes",
        ])
        .arg("--dir")
        .arg(directory)
        .args(["--logfile", "redis.log"]);
    if let Some(fsync) = fsync {
        command.args(["--appendonly", "yes", "--appendfsync", fsync]);
    }
    let mut process = command
        .args(options)
        .current_dir(directory)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .expect("redis-server is installed (./test does it)");
    for _ in 0..LOOKS_MAX {
        if answers(port) {
            return process;
        }
        std::thread::sleep(LOOK);
    }
    process.kill().ok();
    process.wait().ok();
    panic!(
        "Redis on port {port} does not answer; see {}",
        directory.display()
    );
}

/// Whether it has loaded its data and answers; a refusal for want of a password is an answer too.
fn answers(port: u16) -> bool {
    let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) else {
        return false;
    };
    let mut answer = [0; 5];
    stream.set_read_timeout(Some(Duration::from_secs(1))).ok();
    stream.write_all(b"PING\r\n").is_ok()
        && stream.read_exact(&mut answer).is_ok()
        && (&answer == b"+PONG" || &answer == b"-NOAU")
}
