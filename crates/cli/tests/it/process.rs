//! `ropeline serve` as a real process, which can be killed and started again.

use std::{
    fs::{self, File},
    net::{Ipv4Addr, SocketAddr, TcpListener},
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    sync::atomic::{AtomicU8, Ordering},
    thread,
    time::Duration,
};

use ropeline_testing::{
    http::{Ask, Client},
    write_secret,
};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

use crate::{
    Said,
    small_disk::SmallDisk,
    wait::{LOOK, Stopwatch, until},
};

const ROPELINE: &str = env!("CARGO_BIN_EXE_ropeline");
/// A server that is not ready by then will never be.
const START_MAX: Duration = Duration::from_secs(10);
/// A command that has not ended by then hangs.
const COMMAND_MAX: Duration = Duration::from_secs(60);

/// An address, a data directory and settings, which outlive the servers that are started there.
pub(crate) struct Site {
    directory: TempDir,
    address: SocketAddr,
    /// Name of the data directory.
    data: &'static str,
    small_disk: Option<SmallDisk>,
    /// Flags beside those that every server here has.
    flags: Vec<String>,
    /// Environment variables next to those that every server here has.
    variables: Vec<(String, String)>,
    /// The Unix group of the servers, by which a packet filter tells them apart.
    group: Option<u32>,
}

/// A running server. It is killed when it is dropped.
pub(crate) struct Server {
    child: Leashed,
    address: SocketAddr,
    directory: PathBuf,
    /// From the start until it answered that it is ready.
    pub(crate) ready_after: Duration,
}

/// A child that never outlives the test.
pub(crate) struct Leashed(pub(crate) Child);

impl Site {
    /// A place for servers with the settings of a `ropeline.toml`.
    pub(crate) fn new(settings: &str) -> Self {
        let site = Self {
            directory: tempfile::tempdir().expect("a temporary directory"),
            address: free_address(),
            data: "data",
            small_disk: None,
            flags: Vec::new(),
            variables: Vec::new(),
            group: None,
        };
        site.configure(settings);
        site
    }

    /// As [`Site::new`], on an address that others than this machine can reach.
    pub(crate) fn beyond_loopback(settings: &str) -> Self {
        Self {
            address: free_port_of(Ipv4Addr::UNSPECIFIED),
            ..Self::new(settings)
        }
    }

    /// As [`Site::new`], with the data directory on a disk of its own that is easily filled.
    pub(crate) fn on_small_disk(settings: &str, bytes: usize) -> Self {
        let site = Self::new(settings);
        fs::create_dir(site.data()).expect("a directory in a fresh one");
        let small_disk = Some(SmallDisk::mount(&site.data(), bytes));
        Self { small_disk, ..site }
    }

    /// With a flag more.
    pub(crate) fn with_flag(mut self, name: &str, value: &str) -> Self {
        self.flags.extend([name.to_owned(), value.to_owned()]);
        self
    }

    /// With an environment variable more.
    pub(crate) fn with_variable(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// With servers in a Unix group of their own.
    pub(crate) fn in_group(self, group: u32) -> Self {
        let group = Some(group);
        Self { group, ..self }
    }

    /// The settings from the next start or reload on. A server that reads them now sees the old or the new ones.
    pub(crate) fn configure(&self, settings: &str) {
        let fresh = self.settings().with_extension("new");
        fs::write(&fresh, settings).expect("a file in a directory of the test's own");
        fs::rename(fresh, self.settings()).expect("both are in the same directory");
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Puts a file for its owner alone next to the settings, and says where it is.
    pub(crate) fn with_file(&self, name: &str, text: &[u8]) -> PathBuf {
        let path = self.directory.path().join(name);
        write_secret(&path, text);
        path
    }

    /// With a data directory of another name.
    pub(crate) fn with_data(self, name: &'static str) -> Self {
        let data = name;
        Self { data, ..self }
    }

    /// Where servers see their data.
    pub(crate) fn data(&self) -> PathBuf {
        self.directory.path().join(self.data)
    }

    pub(crate) fn small_disk(&self) -> &SmallDisk {
        let disk = self.small_disk.as_ref();
        disk.expect("the site was made with a small disk")
    }

    /// Starts a server and waits until it is ready.
    pub(crate) fn start(&self) -> Server {
        self.start_as("serve")
    }

    /// Starts what a command line says and waits until it is ready.
    pub(crate) fn start_as(&self, line: &str) -> Server {
        let watch = Stopwatch::start();
        let mut server = self.launch(line);
        server.await_ready(watch);
        server.ready_after = watch.elapsed();
        server
    }

    /// Starts what a command line says, and does not wait.
    pub(crate) fn launch(&self, line: &str) -> Server {
        let output = |name| {
            let path = self.directory.path().join(name);
            Stdio::from(File::create(path).expect("a file in a directory of the test's own"))
        };
        let child = self
            .command(line)
            .stdin(Stdio::null())
            .stdout(output("stdout"))
            .stderr(output("stderr"))
            .spawn()
            .expect("the binary that cargo has just built");
        Server {
            child: Leashed(child),
            address: self.address,
            directory: self.directory.path().to_owned(),
            ready_after: Duration::ZERO,
        }
    }

    /// Runs a command of the same site until it ends.
    pub(crate) fn ropeline(&self, line: &str) -> Said {
        let mut command = self.command(line);
        command.stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command
            .spawn()
            .expect("the binary that cargo has just built");
        let mut child = Leashed(child);
        // What a command says fits in a pipe, so it can be read when the command has ended.
        let status = until(COMMAND_MAX, line, || child.ended());
        Said::from(child.output(status))
    }

    /// The admin key that the first start made.
    pub(crate) fn admin_key(&self) -> String {
        let text = fs::read_to_string(self.data().join("admin.key"));
        text.expect("made by the first start").trim().to_owned()
    }

    fn settings(&self) -> PathBuf {
        self.directory.path().join("test.toml")
    }

    /// A command of the same site, to be started.
    pub(crate) fn command(&self, line: &str) -> Command {
        let mut command = match &self.small_disk {
            None => Command::new(ROPELINE),
            Some(disk) => disk.command(ROPELINE),
        };
        command
            .args(line.split_whitespace())
            .args(["--listen", &self.address.to_string(), "--data"])
            .arg(self.data())
            .arg("--config")
            .arg(self.settings())
            .args(&self.flags)
            .env_clear()
            .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
            .envs(self.variables.iter().cloned());
        if let Some(group) = self.group {
            command.gid(group);
        }
        command
    }
}

impl Server {
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.0.id()
    }

    pub(crate) fn client(&self) -> Client {
        Client::connect(self.address).expect("a server that is ready takes connections")
    }

    /// What it has printed so far.
    pub(crate) fn stdout(&self) -> String {
        fs::read_to_string(self.directory.join("stdout")).expect("made at its start")
    }

    /// What it has logged so far.
    pub(crate) fn stderr(&self) -> String {
        fs::read_to_string(self.directory.join("stderr")).expect("made at its start")
    }

    /// The room `main` as an operator sees it.
    pub(crate) fn room(&self, admin_key: &str) -> Value {
        let ask = Ask::get("/api/v1/admin/rooms/main");
        let ask = ask.header("Authorization", &format!("Bearer {admin_key}"));
        let reply = self.client().send(&ask);
        assert_eq!(reply.status, 200, "{}", reply.json());
        reply.json()
    }

    /// Ends it as a crash would: it gets no chance to do anything.
    pub(crate) fn kill(mut self) {
        self.child.kill();
    }

    /// Stops it in its tracks; connections stay open and nothing is answered.
    pub(crate) fn freeze(&self) {
        self.signal(Signal::STOP);
    }

    /// Lets it go on after [`Server::freeze`].
    pub(crate) fn thaw(&self) {
        self.signal(Signal::CONT);
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child.0), signal).expect("a child of this process");
    }

    /// Tells it to reload its settings.
    pub(crate) fn hang_up(&self) {
        self.signal(Signal::HUP);
    }

    /// Tells it to stop.
    pub(crate) fn terminate(&self) {
        self.signal(Signal::TERM);
    }

    /// How it ended by itself, within a time.
    pub(crate) fn ended_within(&mut self, limit: Duration) -> ExitStatus {
        until(limit, "the server ends", || self.child.ended())
    }

    /// How it ended, if it did.
    pub(crate) fn ended(&mut self) -> Option<ExitStatus> {
        self.child.ended()
    }

    fn await_ready(&mut self, watch: Stopwatch) {
        while !self.is_ready() {
            let ended = self.child.ended();
            assert!(
                ended.is_none() && watch.elapsed() < START_MAX,
                "not ready ({ended:?}):\n{}",
                self.stderr()
            );
            thread::sleep(LOOK);
        }
    }

    /// Whether it says that it is ready.
    pub(crate) fn is_ready(&self) -> bool {
        let client = Client::connect(self.address);
        let reply = client.and_then(|mut client| client.try_send(&Ask::get("/readyz")));
        reply.is_ok_and(|reply| reply.status == 200)
    }
}

impl Leashed {
    fn ended(&mut self) -> Option<ExitStatus> {
        self.0.try_wait().expect("a child of this process")
    }

    fn kill(&mut self) {
        // Fails only if it has been waited for, and then it is gone.
        self.0.kill().ok();
        self.0.wait().expect("a child of this process");
    }

    fn output(&mut self, status: ExitStatus) -> std::process::Output {
        use std::io::Read;
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        let pipes = (self.0.stdout.take(), self.0.stderr.take());
        let (Some(mut out), Some(mut err)) = pipes else {
            panic!("the command was started without pipes");
        };
        out.read_to_end(&mut stdout).expect("a pipe");
        err.read_to_end(&mut stderr).expect("a pipe");
        std::process::Output {
            status,
            stdout,
            stderr,
        }
    }
}

impl Drop for Leashed {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Permission bits of a file.
pub(crate) fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    let metadata = fs::metadata(path).expect("the file is there");
    metadata.permissions().mode() & 0o777
}

/// A free port on a loopback address of the test's own. Outgoing connections of other tests, which come
/// from 127.0.0.1, cannot take it while the server is down, nor can a client end up connected to itself.
pub(crate) fn free_address() -> SocketAddr {
    static SITES: AtomicU8 = AtomicU8::new(1);
    let [.., high, low] = std::process::id().to_be_bytes();
    let site = SITES.fetch_add(1, Ordering::Relaxed);
    free_port_of(Ipv4Addr::new(127, high, low, site))
}

fn free_port_of(address: Ipv4Addr) -> SocketAddr {
    let listener = TcpListener::bind((address, 0));
    let address = listener.and_then(|listener| listener.local_addr());
    address.expect("Linux has all of 127.0.0.0/8")
}
