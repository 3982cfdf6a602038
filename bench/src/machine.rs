//! What a reader must know of the machine, and nothing that tells which machine it was.

use std::{fs, path::Path, thread};

use crate::Result;

/// `data` is where the engines write: a file system in memory would make "durable" a lie.
pub(crate) fn facts(data: &Path) -> Vec<(&'static str, String)> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    // The rest of a release's name tells who built it.
    let release = first_line("/proc/sys/kernel/osrelease");
    let kernel: Vec<_> = release.split('.').take(2).collect();
    vec![
        ("cores", cores.to_string()),
        ("cpu", field("/proc/cpuinfo", "model name")),
        ("memory", memory()),
        ("kernel", kernel.join(".")),
        ("file system of the data", file_system(data)),
    ]
}

fn memory() -> String {
    let total = field("/proc/meminfo", "MemTotal");
    let kilobytes = total
        .strip_suffix(" kB")
        .and_then(|digits| digits.parse::<u64>().ok());
    kilobytes.map_or(total, |kilobytes| format!("{} GB", kilobytes / 1_000_000))
}

fn first_line(path: &str) -> String {
    let text = fs::read_to_string(path).unwrap_or_default();
    text.lines().next().unwrap_or("unknown").to_owned()
}

/// The value behind `name :` in the files of `/proc`.
fn field(path: &str, name: &str) -> String {
    let text = fs::read_to_string(path).unwrap_or_default();
    text.lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(key, _)| key.trim() == name)
        .map_or_else(
            || "unknown".to_owned(),
            |(_, value)| value.trim().to_owned(),
        )
}

/// The type of the mount with the longest path above `data`.
fn file_system(data: &Path) -> String {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let kind = mounts
        .lines()
        .filter_map(|line| {
            let mut words = line.split_whitespace().skip(1);
            Some((words.next()?, words.next()?))
        })
        .filter(|(mount, _)| data.starts_with(mount))
        .max_by_key(|(mount, _)| mount.len())
        .map_or("unknown", |(_, kind)| kind);
    match kind {
        "tmpfs" | "ramfs" => format!("{kind} (in memory: nothing here is durable)"),
        _ => kind.to_owned(),
    }
}

/// Processor time that a process has used, in seconds; `None` where `/proc` does not tell.
pub(crate) fn cpu_seconds(process: u32) -> Option<f64> {
    // Linux counts in hundredths of a second on every platform that we know.
    const TICKS_PER_SECOND: f64 = 100.0;
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name of the program, in brackets, may hold spaces; after it comes the state, then numbers.
    let (_, fields) = stat.rsplit_once(") ")?;
    let mut times = fields.split(' ').skip(11);
    let user: f64 = times.next()?.parse().ok()?;
    let system: f64 = times.next()?.parse().ok()?;
    Some((user + system) / TICKS_PER_SECOND)
}

/// Memory of a process that is in RAM, in bytes.
pub(crate) fn resident_bytes(process: u32) -> Result<u64> {
    let resident = field(&format!("/proc/{process}/status"), "VmRSS");
    let kilobytes = resident
        .strip_suffix(" kB")
        .and_then(|digits| digits.parse::<u64>().ok());
    let kilobytes = kilobytes.ok_or("the system does not tell the memory of a process")?;
    Ok(kilobytes * 1_024)
}
