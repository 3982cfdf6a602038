//! PostgreSQL, from Debian.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use tempfile::TempDir;

use super::{Leashed, is_root, run};

/// Debian has the programs of each version in a directory of its own.
const VERSIONS: &str = "/usr/lib/postgresql";
/// The user that Debian's package makes. PostgreSQL refuses to run as root.
const USER: &str = "postgres";

/// A PostgreSQL server on a socket in a directory of its own, stopped when dropped.
#[derive(Debug)]
pub struct TestPostgres {
    server: Leashed,
    settings: &'static [&'static str],
    directory: TempDir,
}

impl TestPostgres {
    /// An empty server that forgets with the machine what it has not written yet.
    pub fn start() -> Self {
        Self::with(&["-c", "fsync=off"])
    }

    /// An empty server that syncs every commit to disk, for what is to be measured.
    pub fn start_synced() -> Self {
        Self::with(&[])
    }

    fn with(settings: &'static [&'static str]) -> Self {
        let directory = tempfile::tempdir().expect("a directory for PostgreSQL");
        let path = directory.path();
        if is_root() {
            run(Command::new("chown").arg(USER).arg(path));
        }
        let data = path.join("data");
        run(as_user("initdb").arg("-D").arg(&data).args([
            "-U",
            USER,
            "-A",
            "trust",
            "-E",
            "UTF8",
            "--no-sync",
        ]));
        Self {
            server: serve(path, settings),
            settings,
            directory,
        }
    }

    /// Stops the server as its operator would: connections are cut, and nothing that was committed is lost.
    pub fn stop(&mut self) {
        self.server.interrupt();
    }

    /// Starts it again after [`TestPostgres::stop`], where it was.
    pub fn start_again(&mut self) {
        self.server = serve(self.directory.path(), self.settings);
    }

    /// Carries out statements in a database.
    pub fn execute(&self, database: &str, statements: &str) {
        run(psql(self.directory.path())
            .args(["-v", "ON_ERROR_STOP=1"])
            .args(["-d", database, "-c", statements]));
    }

    /// The address of one of its databases, for programs that take one.
    pub fn url(&self, database: &str) -> String {
        let directory = self.directory.path().display();
        format!("postgres:///{database}?host={directory}&user={USER}")
    }

    /// A shell in which `psql` finds this server; what it is to do follows as `-c` and a line.
    pub fn shell(&self) -> Command {
        let mut shell = Command::new("sh");
        found(&mut shell, self.directory.path());
        shell
    }
}

/// Starts the server of a directory and waits until it answers.
fn serve(directory: &Path, settings: &[&str]) -> Leashed {
    let mut server = as_user("postgres");
    server
        .arg("-D")
        .arg(directory.join("data"))
        .arg("-k")
        .arg(directory)
        .args(["-c", "listen_addresses="])
        .args(settings)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let answers = || {
        let mut probe = psql(directory);
        probe.args(["-c", "SELECT 1"]);
        probe.output().is_ok_and(|output| output.status.success())
    };
    Leashed::start(&mut server, answers)
}

fn psql(directory: &Path) -> Command {
    let mut command = Command::new("psql");
    found(&mut command, directory);
    command
}

/// Clients find the server by these variables.
fn found(command: &mut Command, directory: &Path) {
    command.env("PGHOST", directory).env("PGUSER", USER);
}

/// A program of the server, as a user that it agrees to run as.
fn as_user(program: &str) -> Command {
    let program = newest().join("bin").join(program);
    if !is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command
        .args(["--reuid", USER, "--regid", USER, "--clear-groups"])
        .arg("--")
        .arg(program)
        .current_dir("/");
    command
}

fn newest() -> PathBuf {
    let versions = std::fs::read_dir(VERSIONS).into_iter().flatten().flatten();
    let newest = versions
        .map(|version| version.path())
        .filter(|version| version.join("bin/initdb").exists())
        .max_by_key(|version| {
            version
                .file_name()
                .and_then(|name| name.to_str()?.parse::<u32>().ok())
        });
    newest.expect("PostgreSQL is installed (./test does it)")
}
