//! Runs the built `ropeline` as a person or a script would.

mod admin;
mod boxoffice;
mod catch_up;
mod config;
mod counter;
mod crash;
mod crowd;
mod damaged_files;
mod deploy;
mod disk_full;
mod failover;
mod health;
mod import;
mod liar;
mod life;
mod load;
mod logins;
mod metrics;
mod moving;
mod nemesis;
mod nginx;
mod nodes;
mod outage;
mod plan;
mod process;
mod proxy;
mod recorded;
mod redis_rights;
mod redis_start;
mod reload;
mod room;
mod room_server;
mod settings;
mod shared_keys;
mod small_disk;
mod still;
mod three_nodes;
mod tidy;
mod tidy_docs;
mod time;
mod usage;
mod visitor;
mod wait;
mod watch;

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

use tempfile::TempDir;

/// A working directory of its own, with nothing of ours in the environment.
struct Shell {
    directory: TempDir,
    environment: Vec<(&'static str, &'static str)>,
}

/// What a command said, and how it ended.
struct Said {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

impl Shell {
    fn new() -> Self {
        Self {
            directory: tempfile::tempdir().expect("a temporary directory"),
            environment: Vec::new(),
        }
    }

    fn with_file(self, name: &str, text: &str) -> Self {
        fs::write(self.path().join(name), text).expect("a file in a fresh directory");
        self
    }

    fn with_variable(mut self, name: &'static str, value: &'static str) -> Self {
        self.environment.push((name, value));
        self
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    fn ropeline(&self, line: &str) -> Said {
        let output = Command::new(env!("CARGO_BIN_EXE_ropeline"))
            .args(line.split_whitespace())
            .current_dir(self.path())
            .env_clear()
            .envs(self.environment.iter().copied())
            .output()
            .expect("the binary that cargo has just built");
        Said::from(output)
    }
}

impl From<Output> for Said {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("ropeline writes UTF-8");
        Self {
            code: output.status.code(),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }
}

impl Said {
    /// The result of a command that must have worked.
    #[track_caller]
    fn result(self) -> String {
        assert_eq!((self.code, self.stderr.as_str()), (Some(0), ""));
        self.stdout
    }

    /// The complaint of a command that must have failed with this code and printed nothing else.
    #[track_caller]
    fn complaint(self, code: i32) -> String {
        assert_eq!((self.code, self.stdout.as_str()), (Some(code), ""));
        self.stderr
    }
}
