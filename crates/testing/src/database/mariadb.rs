//! MariaDB, from Debian.

use std::{
    fs,
    process::{Command, Stdio},
};

use tempfile::TempDir;

use super::{Leashed, is_root, run};

/// A MariaDB server on a socket in a directory of its own, stopped when dropped.
#[derive(Debug)]
pub struct TestMariaDb {
    _server: Leashed,
    directory: TempDir,
}

impl TestMariaDb {
    /// An empty server.
    pub fn start() -> Self {
        let directory = tempfile::tempdir().expect("a directory for MariaDB");
        let (data, socket) = (directory.path().join("data"), directory.path().join("sock"));
        // The client finds the server by this file when `HOME` is the directory.
        let client = format!("[client]\nsocket={}\nuser=root\n", socket.display());
        fs::write(directory.path().join(".my.cnf"), client).expect("a file in our own directory");
        let data = format!("--datadir={}", data.display());
        let user: &[&str] = if is_root() { &["--user=root"] } else { &[] };
        run(Command::new("mariadb-install-db")
            .args(["--no-defaults", &data, "--skip-test-db"])
            .arg("--auth-root-authentication-method=normal")
            .args(user));
        let mut server = Command::new("mariadbd");
        server
            .args(["--no-defaults", &data, "--skip-networking"])
            .arg(format!("--socket={}", socket.display()))
            .arg(format!("--pid-file={}.pid", socket.display()))
            .args(["--innodb-buffer-pool-size=16M", "--skip-log-bin"])
            .args(user)
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let home = directory.path().to_owned();
        let answers = || {
            let mut probe = Command::new("mariadb");
            probe.env("HOME", &home).args(["-e", "SELECT 1"]);
            probe.output().is_ok_and(|output| output.status.success())
        };
        Self {
            _server: Leashed::start(&mut server, answers),
            directory,
        }
    }

    /// Carries out statements, as `root`.
    pub fn execute(&self, statements: &str) {
        run(self
            .shell()
            .args(["-c", "mariadb -e \"$1\"", "sh", statements]));
    }

    /// A shell in which `mariadb` finds this server; what it is to do follows as `-c` and a line.
    pub fn shell(&self) -> Command {
        let mut shell = Command::new("sh");
        shell.env("HOME", self.directory.path());
        shell
    }
}
