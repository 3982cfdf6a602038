//! The product in a process of its own, with rooms made for measuring.

use std::{
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

/// A server with nothing to recover is ready in far less.
const READY_WITHIN: Duration = Duration::from_secs(20);

const ROOMS: &str = include_str!("../../ropeline.toml");

#[derive(Debug)]
pub(crate) struct Product {
    child: Child,
    address: SocketAddr,
    directory: TempDir,
}

impl Product {
    /// Starts the server on an empty data directory and waits until it takes joins. The store is what
    /// `--store` takes.
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
        let directory = TempDir::new()?;
        let config = directory.path().join("ropeline.toml");
        fs::write(&config, format!("{settings}{ROOMS}"))?;
        let log = File::create(log_path(&directory))?;
        let address = free_address()?;
        let child = Command::new(binary)
            .arg("serve")
            .args(["--listen", &address.to_string()])
            .args(["--store", store])
            .arg("--data")
            .arg(directory.path().join("data"))
            .arg("--config")
            .arg(&config)
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()
            .map_err(|error| format!("{} does not start: {error}", binary.display()))?;
        let mut product = Self {
            child,
            address,
            directory,
        };
        product.wait_until_ready(runtime)?;
        Ok(product)
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
            thread::sleep(Duration::from_millis(20));
        }
    }

    pub(crate) fn target(&self) -> Target {
        Target::new(self.address, self.child.id())
    }

    /// What operators log in with, made by the first start.
    pub(crate) fn admin_key(&self) -> Result<String> {
        let key = fs::read_to_string(self.directory.path().join("data/admin.key"))?;
        Ok(key.trim().to_owned())
    }

    /// The end of its log, for whoever reads why the run failed.
    pub(crate) fn last_words(&self) -> String {
        const LINES: usize = 10;
        let log = fs::read_to_string(log_path(&self.directory)).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        lines[lines.len().saturating_sub(LINES)..].join("\n")
    }
}

impl Drop for Product {
    fn drop(&mut self) {
        // Its data goes with the directory, so it need not be stopped gently.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

fn log_path(directory: &TempDir) -> PathBuf {
    directory.path().join("log")
}

/// A port that was free a moment ago: the server is told its address, it does not tell us.
fn free_address() -> Result<SocketAddr> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    Ok(listener.local_addr()?)
}
