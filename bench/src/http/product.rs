//! The product in a process of its own, with rooms made for measuring.

use std::{
    borrow::Cow,
    fs::{self, File},
    net::{Ipv4Addr, SocketAddr, TcpListener},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use tempfile::TempDir;
use tokio::runtime::Runtime;

use super::{Target, client, requests};
use crate::Result;

/// A server with nothing to recover is ready in far less; one with the longest line takes a minute.
const READY_WITHIN: Duration = Duration::from_secs(300);
/// How exactly the time until it is ready is known.
const LOOK: Duration = Duration::from_millis(5);

const ROOMS: &str = include_str!("../../ropeline.toml");

/// What the key that a first start prints begins with; it belongs into no report.
const ADMIN_KEY_START: &str = "rladm_";

/// What a server is started with.
#[derive(Debug, Clone)]
pub(crate) struct Setup {
    pub(crate) binary: PathBuf,
    /// What `--store` takes.
    pub(crate) store: String,
    /// The text of its `ropeline.toml`.
    pub(crate) settings: Cow<'static, str>,
    /// What its service API is asked with, where that is asked.
    pub(crate) service_key: Option<&'static str>,
    /// In which directory it has one of its own.
    pub(crate) beneath: PathBuf,
}

#[derive(Debug)]
pub(crate) struct Product {
    setup: Setup,
    child: Child,
    address: SocketAddr,
    directory: TempDir,
}

impl Product {
    /// Starts the server with the rooms of the benchmark. The store is what `--store` takes.
    pub(crate) fn start(binary: &Path, store: &str, runtime: &Runtime) -> Result<Self> {
        Self::start_with(binary, store, "", runtime)
    }

    /// As [`Product::start`], with lines of settings before those of the rooms.
    pub(crate) fn start_with(
        binary: &Path,
        store: &str,
        settings: &str,
        runtime: &Runtime,
    ) -> Result<Self> {
        let setup = Setup {
            binary: binary.to_owned(),
            store: store.to_owned(),
            settings: format!("{settings}{ROOMS}").into(),
            service_key: None,
            beneath: std::env::temp_dir(),
        };
        Self::with(setup, runtime)
    }

    /// Starts the server on an empty data directory and waits until it takes joins.
    pub(crate) fn with(setup: Setup, runtime: &Runtime) -> Result<Self> {
        let directory = TempDir::new_in(&setup.beneath)?;
        fs::write(directory.path().join("ropeline.toml"), &*setup.settings)?;
        let address = free_address()?;
        let child = spawn(&setup, &directory, address)?;
        let mut product = Self {
            setup,
            child,
            address,
            directory,
        };
        product.wait_until_ready(runtime)?;
        Ok(product)
    }

    /// Ends it as a crash would.
    pub(crate) fn kill(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }

    /// Starts it with what it had before [`Product::kill`]; says how long it took until joins were served.
    pub(crate) fn start_again(&mut self, runtime: &Runtime) -> Result<Duration> {
        let started = Instant::now();
        self.child = spawn(&self.setup, &self.directory, self.address)?;
        self.wait_until_ready(runtime)?;
        Ok(started.elapsed())
    }

    /// Where it keeps what must survive.
    pub(crate) fn data(&self) -> PathBuf {
        self.directory.path().join("data")
    }

    fn wait_until_ready(&mut self, runtime: &Runtime) -> Result<()> {
        let ready = requests::get("/readyz", "");
        let deadline = Instant::now() + READY_WITHIN;
        loop {
            let Err(error) = runtime.block_on(client::once(self.address, &ready)) else {
                return Ok(());
            };
            if let Some(status) = self.child.try_wait()? {
                return Err(
                    format!("the server ended with {status}\n{}", self.last_words()).into(),
                );
            }
            if Instant::now() > deadline {
                let words = self.last_words();
                return Err(format!("the server is not ready: {error}\n{words}").into());
            }
            thread::sleep(LOOK);
        }
    }

    pub(crate) fn target(&self) -> Target {
        Target::new(self.address, self.child.id())
    }

    /// What operators log in with, made by the first start.
    pub(crate) fn admin_key(&self) -> Result<String> {
        let key = fs::read_to_string(self.data().join("admin.key"))?;
        Ok(key.trim().to_owned())
    }

    /// The end of its log, for whoever reads why the run failed.
    pub(crate) fn last_words(&self) -> String {
        let log = fs::read_to_string(log_path(&self.directory)).unwrap_or_default();
        last_lines(&log)
    }
}

impl Drop for Product {
    fn drop(&mut self) {
        // Its data goes with the directory, so it need not be stopped gently.
        self.kill();
    }
}

fn spawn(setup: &Setup, directory: &TempDir, address: SocketAddr) -> Result<Child> {
    let log = File::options()
        .create(true)
        .append(true)
        .open(log_path(directory))?;
    let mut command = Command::new(&setup.binary);
    command
        .arg("serve")
        .args(["--listen", &address.to_string()])
        .args(["--store", &setup.store])
        .arg("--data")
        .arg(directory.path().join("data"))
        .arg("--config")
        .arg(directory.path().join("ropeline.toml"));
    if let Some(key) = setup.service_key {
        command.args(["--service-key", key]);
    }
    command
        .stdin(Stdio::null())
        .stdout(log.try_clone()?)
        .stderr(log)
        .spawn()
        .map_err(|error| format!("{} does not start: {error}", setup.binary.display()).into())
}

fn log_path(directory: &TempDir) -> PathBuf {
    directory.path().join("log")
}

/// A port that was free a moment ago: the server is told its address, it does not tell us.
fn free_address() -> Result<SocketAddr> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    Ok(listener.local_addr()?)
}

/// The end of a log, without the admin key.
fn last_lines(log: &str) -> String {
    const LINES: usize = 10;
    let fit = |line: &&str| !line.contains(ADMIN_KEY_START);
    let lines: Vec<&str> = log.lines().filter(fit).collect();
    lines[lines.len().saturating_sub(LINES)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_has_the_end_of_the_log_and_no_key() {
        let key = format!("  admin key   {ADMIN_KEY_START}secret");
        let mut log: Vec<_> = (1..=12).map(|line| format!("line {line}")).collect();
        log.push(key);
        let lines = last_lines(&log.join("\n"));
        assert!(
            lines.starts_with("line 3\n") && lines.ends_with("line 12"),
            "{lines}"
        );
    }
}
