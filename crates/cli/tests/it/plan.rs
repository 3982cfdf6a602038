//! `ropeline plan`.

use serde_json::{Value, json};

use crate::{Shell, process::Site, still::STILL_ROOM};

fn plan(line: &str) -> String {
    Shell::new().ropeline(&format!("plan {line}")).result()
}

fn json_plan(line: &str) -> Value {
    let text = plan(&format!("{line} --json"));
    serde_json::from_str(&text).expect("one JSON object")
}

#[test]
fn the_derivation_is_written_out_and_ends_with_lines_to_paste() {
    assert_eq!(
        plan("--tps 660 --calls 2 --retry 1.5 --every 10s"),
        "\
your service bears         660 requests a second
one visitor makes          2 × 1.5 = 3 requests
requests in 10s            660 × 10 = 6600
visitors in 10s            6600 ÷ 3 = 2200 (rounded down)

For ropeline.toml:

[rooms.main]
every = \"10s\"
batch = 2200
# no active_max: however many may be inside; --stay works one out

Or while the server runs:

ropeline room set main every=10s batch=2200
"
    );
}

#[test]
fn the_seeds_figures_come_out() {
    for (line, batch) in [
        ("--tps 1000 --calls 3 --every 10s", 3333),
        ("--tps 660 --calls 2 --retry 1.5 --every 10s", 2200),
        ("--tps 20 --calls 4 --retry 1.5 --every 5s", 16),
    ] {
        assert_eq!(json_plan(line)["policy"]["batch"], batch, "{line}");
    }
}

#[test]
fn the_pasted_section_is_one_that_the_server_takes() {
    let text = plan("--tps 1000 --calls 3 --every 10s --stay 4m --crowd 50000 --room album-sale");
    assert!(
        text.contains("⌈(50000 − 1) ÷ 3333⌉ × 10s = 2m 40s"),
        "{text}"
    );
    let (_, rest) = text.split_once("[rooms").expect("a section");
    let (section, _) = rest.split_once("\n\n").expect("something behind it");
    let shell = Shell::new().with_file("ropeline.toml", &format!("[rooms{section}\n"));
    let verdict = shell.ropeline("config check").result();
    let expected = "album-sale  3333 every 10s, at most 79992 inside";
    assert!(verdict.contains(expected), "{verdict}");
}

#[test]
fn scripts_get_json() {
    assert_eq!(
        json_plan("--tps 100 --calls 4 --headroom 20% --every 5s --stay 30s --crowd 1001"),
        json!({
            "room": "main",
            "policy": {"every": "5s", "batch": 100, "activeMax": 600},
            "requestsPerVisitor": "4",
            "lastWaitSeconds": 50.0,
        })
    );
}

#[test]
fn figures_that_give_no_plan_are_told_what_to_change() {
    let shell = Shell::new();
    for (line, expected) in [
        ("--tps 0 --calls 3", "--tps must be above 0: measure"),
        ("--tps 10 --calls 0", "--calls must be above 0: count"),
        (
            "--tps 10 --calls 1 --retry 0.5",
            "--retry must be at least 1",
        ),
        (
            "--tps 10 --calls 1 --headroom 100%",
            "--headroom must be below 100%",
        ),
        (
            "--tps 10 --calls 1 --every 0s",
            "--every must be from 100ms to 30d",
        ),
        (
            "--tps 0.5 --calls 4 --retry 1.5 --every 5s",
            "with --every 12s or longer",
        ),
    ] {
        let complaint = shell.ropeline(&format!("plan {line}")).complaint(1);
        assert!(complaint.contains(expected), "{line}: {complaint}");
    }
    assert_eq!(
        json_plan("--tps 0.5 --calls 4 --retry 1.5 --every 12s")["policy"]["batch"],
        1
    );
}

#[test]
fn figures_that_are_none_are_a_usage_error() {
    let shell = Shell::new();
    for line in [
        "--calls 3",
        "--tps many --calls 3",
        "--tps 1 --calls 1 --every 10",
    ] {
        shell.ropeline(&format!("plan {line}")).complaint(2);
    }
}

#[test]
fn the_line_for_a_running_server_is_one_that_it_takes() {
    let site = Site::new(STILL_ROOM);
    let _server = site.start();
    let text = plan("--tps 1000 --calls 3 --every 10s --stay 4m");
    let (_, line) = text.split_once("\nropeline room set ").expect("a line");
    let changed = site.ropeline(&format!("room set {line}")).result();
    assert_eq!(
        changed,
        "every: 30d -> 10s\nbatch: 1 -> 3333\nactive_max: no limit -> 79992\n"
    );
}
