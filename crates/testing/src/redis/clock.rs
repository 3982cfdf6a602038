//! Wall clocks of servers that a test can move.

use std::{
    fs::{self, File},
    os::unix::fs::FileExt,
    path::PathBuf,
    process::Command,
};

use tempfile::TempDir;

const SOURCE: &str = include_str!("clock.c");

/// A wall clock for one server process. The server's monotonic clock is the machine's.
#[derive(Debug)]
pub(super) struct WallClock {
    directory: TempDir,
}

impl WallClock {
    /// A clock that shows the machine's time.
    pub(super) fn new() -> Self {
        let directory = tempfile::tempdir().expect("a directory for a clock");
        let clock = Self { directory };
        clock.shift(0);
        let source = clock.path("clock.c");
        fs::write(&source, SOURCE).expect("a file in a fresh directory");
        let compiled = Command::new("cc")
            .args(["-shared", "-fPIC", "-O1", "-o"])
            .arg(clock.path("clock.so"))
            .arg(source)
            .status();
        let compiled = compiled.expect("cc is installed (./test does it)");
        assert!(compiled.success(), "clock.c does not compile");
        clock
    }

    /// Shows this many seconds more than the machine's time from now on.
    pub(super) fn shift(&self, seconds: i64) {
        let mut file = File::options();
        file.create(true).write(true).truncate(false);
        // The process has the file mapped: it must never be shorter than the number.
        let written = file
            .open(self.path("seconds"))
            .and_then(|file| file.write_all_at(&seconds.to_ne_bytes(), 0));
        written.expect("the directory is ours");
    }

    /// What makes a process live by it.
    pub(super) fn environment(&self) -> [(&'static str, PathBuf); 2] {
        [
            ("LD_PRELOAD", self.path("clock.so")),
            ("ROPELINE_TESTING_CLOCK", self.path("seconds")),
        ]
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }
}
