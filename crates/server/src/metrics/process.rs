//! What the process uses, under the names that every exporter gives these figures. Read from `/proc`; where there is
//! none, nothing is said.

use std::{fs, path::Path};

use prometheus::proto::MetricFamily;

use super::family::{Family, float};

/// Clock ticks per second in `/proc`: 100 on every architecture of Linux that Rust builds servers for.
const TICKS_PER_SECOND: f64 = 100.0;

pub(super) fn families() -> Vec<MetricFamily> {
    read(Path::new("/proc"))
}

fn read(proc: &Path) -> Vec<MetricFamily> {
    let own = proc.join("self");
    let stat = fs::read_to_string(own.join("stat")).unwrap_or_default();
    let status = fs::read_to_string(own.join("status")).unwrap_or_default();
    let limits = fs::read_to_string(own.join("limits")).unwrap_or_default();
    let machine = fs::read_to_string(proc.join("stat")).unwrap_or_default();
    let open = fs::read_dir(own.join("fd")).ok().map(Iterator::count);
    let cpu = Family::counter(
        "process_cpu_seconds_total",
        "Processor time used, by user and system together",
    );
    let memory = Family::gauge("process_resident_memory_bytes", "Memory in use");
    let files = Family::gauge("process_open_fds", "Open files and connections");
    let files_max = Family::gauge("process_max_fds", "Files and connections that may be open");
    let started = Family::gauge(
        "process_start_time_seconds",
        "When the process started, in seconds since 1970",
    );
    let figures = [
        (cpu, cpu_seconds(&stat)),
        (memory, resident_bytes(&status)),
        (
            files,
            open.and_then(|open| u64::try_from(open).ok()).map(float),
        ),
        (files_max, files_limit(&limits)),
        (started, start_seconds(&stat, &machine)),
    ];
    let known = figures.into_iter().filter_map(|(mut family, figure)| {
        family.put(&[], figure?);
        family.known()
    });
    known.collect()
}

/// The fields of `/proc/self/stat` from the third on: the second, the name in brackets, may contain anything.
fn fields(stat: &str) -> impl Iterator<Item = &str> {
    let rest = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    rest.split_whitespace()
}

fn cpu_seconds(stat: &str) -> Option<f64> {
    let mut fields = fields(stat).skip(11).map(str::parse::<u64>);
    let (user, system) = (fields.next()?.ok()?, fields.next()?.ok()?);
    Some(float(user + system) / TICKS_PER_SECOND)
}

fn start_seconds(stat: &str, machine: &str) -> Option<f64> {
    let after_boot: u64 = fields(stat).nth(19)?.parse().ok()?;
    let mut lines = machine.lines();
    let booted: u64 = lines
        .find_map(|line| line.strip_prefix("btime "))?
        .trim()
        .parse()
        .ok()?;
    Some(float(booted) + float(after_boot) / TICKS_PER_SECOND)
}

fn resident_bytes(status: &str) -> Option<f64> {
    let mut lines = status.lines();
    let resident = lines.find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = resident.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(float(kib * 1_024))
}

fn files_limit(limits: &str) -> Option<f64> {
    let mut lines = limits.lines();
    let row = lines.find_map(|line| line.strip_prefix("Max open files"))?;
    let soft: u64 = row.split_whitespace().next()?.parse().ok()?;
    Some(float(soft))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_read_whatever_the_process_is_called() {
        let stat = "7 (a) b) (c) S 1 7 7 0 -1 4194560 9 0 0 0 250 50 0 0 20 0 4 0 1200 9 9 9";
        assert_eq!(cpu_seconds(stat), Some(3.0));
        assert_eq!(start_seconds(stat, "cpu 1\nbtime 1000\nx"), Some(1_012.0));
        assert_eq!(
            resident_bytes("VmPeak: 9 kB\nVmRSS:\t  2 kB\n"),
            Some(2_048.0)
        );
        let limits = "Limit  Soft  Hard\nMax open files            1024      4096     files\n";
        assert_eq!(files_limit(limits), Some(1_024.0));
    }

    #[test]
    fn where_there_is_no_proc_nothing_is_said() {
        assert!(read(Path::new("/nowhere")).is_empty());
        assert_eq!(families().len(), 5, "on Linux there is");
    }
}
