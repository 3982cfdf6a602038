//! Real databases of the test's own, for what is exported from them.

mod mariadb;
mod postgres;

use std::{
    process::{Child, Command, Output},
    time::Duration,
};

pub use mariadb::TestMariaDb;
pub use postgres::TestPostgres;
use rustix::process::{Pid, Signal, kill_process};

/// How often it is looked whether a server that was started answers.
const LOOK: Duration = Duration::from_millis(20);
/// A server that does not answer after so many looks never will.
const LOOKS_MAX: u32 = 1_500;

/// A server that is stopped when it is dropped.
#[derive(Debug)]
struct Leashed(Child);

impl Leashed {
    /// Starts a server and waits until it answers.
    fn start(command: &mut Command, answers: impl Fn() -> bool) -> Self {
        let program = command.get_program().to_owned();
        let child = command.spawn();
        let leashed = Self(child.unwrap_or_else(|error| panic!("{}: {error}", program.display())));
        for _ in 0..LOOKS_MAX {
            if answers() {
                return leashed;
            }
            std::thread::sleep(LOOK);
        }
        panic!("{} does not answer", program.display());
    }
}

impl Leashed {
    /// Asks the server to stop at once, and waits until it has.
    fn interrupt(&mut self) {
        let child = &mut self.0;
        kill_process(Pid::from_child(child), Signal::INT).expect("a child of this process");
        child.wait().expect("a child of this process");
    }
}

impl Drop for Leashed {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// Runs a program to its end, which must be a good one.
fn run(command: &mut Command) -> Output {
    let output = command.output();
    let output = output.unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {said}");
    output
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}
