//! A disk that is easily filled: a tmpfs in a mount namespace of its own.

use std::{
    fs::{self, File},
    io::{BufRead, BufReader, ErrorKind, Read, Write},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::process::Leashed;

/// The holder ends when its standard input does, so not even a test that is killed leaves it behind.
const HOLDER: &str = "mount -t tmpfs -o size=\"$1\" tmpfs \"$2\" && echo mounted && exec cat >&2";
const FILLER: &str = "filler";

/// The namespace lives as long as this, and the disk with what is on it as long as the namespace.
pub(crate) struct SmallDisk {
    holder: Leashed,
    way: Way,
    /// The directory as this process reaches it.
    path: PathBuf,
}

/// How a namespace is made and entered.
struct Way {
    make: &'static [&'static str],
    enter: &'static [&'static str],
}

const AS_ROOT: Way = Way {
    make: &["--mount"],
    enter: &["--mount"],
};
const AS_ANYBODY: Way = Way {
    make: &["--map-root-user", "--mount"],
    enter: &["--user", "--preserve-credentials", "--mount"],
};

impl SmallDisk {
    /// Mounts a disk of so many bytes on a directory, for the processes that are started here.
    pub(crate) fn mount(directory: &Path, bytes: usize) -> Self {
        let mut complaints = Vec::new();
        for way in [AS_ROOT, AS_ANYBODY] {
            match way.mount(directory, bytes) {
                Ok(disk) => return disk,
                Err(complaint) => complaints.push(complaint),
            }
        }
        panic!(
            "this test needs a mount namespace: run it as root with CAP_SYS_ADMIN, or allow user namespaces \
             (sysctl kernel.unprivileged_userns_clone=1, user.max_user_namespaces > 0); util-linux's \
             `unshare` and `nsenter` must be installed.\n{}",
            complaints.join("\n")
        );
    }

    /// A command that sees the disk.
    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new("nsenter");
        let holder = self.holder.0.id().to_string();
        command.args(["--target", &holder]).args(self.way.enter);
        command.arg("--").arg(program);
        command
    }

    /// Writes until nothing more fits.
    pub(crate) fn fill(&self) {
        let mut file = File::create(self.path.join(FILLER)).expect("an empty file takes no space");
        let page = [0xff; 4096];
        loop {
            match file.write_all(&page) {
                Ok(()) => {}
                Err(error) if error.kind() == ErrorKind::StorageFull => return,
                Err(error) => panic!("the disk cannot be filled: {error}"),
            }
        }
    }

    /// Takes away what [`SmallDisk::fill`] wrote.
    pub(crate) fn free(&self) {
        fs::remove_file(self.path.join(FILLER)).expect("the disk was filled");
    }
}

impl Way {
    fn mount(self, directory: &Path, bytes: usize) -> Result<SmallDisk, String> {
        let mut command = Command::new("unshare");
        command
            .args(self.make)
            .args(["sh", "-c", HOLDER, "sh", &bytes.to_string()])
            .arg(directory)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let fail = |why: &str| Err(format!("unshare {}: {}", self.make.join(" "), why.trim()));
        let mut holder = match command.spawn() {
            Ok(child) => Leashed(child),
            Err(error) => return fail(&error.to_string()),
        };
        let mut line = String::new();
        let stdout = holder.0.stdout.take().expect("it is piped");
        BufReader::new(stdout).read_line(&mut line).expect("a pipe");
        if line.trim() != "mounted" {
            let mut why = String::new();
            let mut stderr = holder.0.stderr.take().expect("it is piped");
            stderr.read_to_string(&mut why).expect("a pipe");
            return fail(&why);
        }
        let root = PathBuf::from(format!("/proc/{}/root", holder.0.id()));
        let inside = directory.strip_prefix("/").expect("an absolute path");
        Ok(SmallDisk {
            path: root.join(inside),
            holder,
            way: self,
        })
    }
}
