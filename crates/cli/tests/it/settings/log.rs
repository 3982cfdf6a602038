//! The form of the log, and how much of it there is.

use std::time::Duration;

use serde_json::Value;

use crate::process::Site;

const STOP_MAX: Duration = Duration::from_secs(5);
const STOPPING: &str = "stopping: requests in progress are finished first";

/// What a server with these lines in `[log]` logs from its start to its end.
fn log_with(lines: &str) -> String {
    let site = Site::new(&format!("[log]\n{lines}"));
    let mut server = site.start();
    server.terminate();
    server.ended_within(STOP_MAX);
    server.stderr()
}

#[test]
fn a_log_in_json_has_an_object_on_each_line() {
    let log = log_with("format = 'json'\n");
    let events: Result<Vec<Value>, _> = log.lines().map(serde_json::from_str).collect();
    let events = events.unwrap_or_else(|error| panic!("{error}: {log}"));
    let stopping = |event: &Value| event["message"] == STOPPING && event["level"] == "INFO";
    assert!(events.iter().any(stopping), "{log}");
}

#[test]
fn a_log_in_json_has_the_start_as_events_and_nothing_stands_beside_it() {
    let site = Site::new("[log]\nformat = 'json'\n");
    let server = site.start();
    assert_eq!(server.stdout(), "");
    let log = server.stderr();
    let events: Vec<Value> = log
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {log}")))
        .collect();
    let event = |message: &str| {
        let found = events.iter().find(|event| event["message"] == message);
        found.unwrap_or_else(|| panic!("{message}: {log}"))
    };
    assert_eq!(event("room")["room.id"], "main");
    let listening = event("listening");
    assert_eq!(listening["server.address"], site.address().to_string());
    let place = format!("in {}, made now", site.data().join("admin.key").display());
    assert_eq!(listening["admin_key"], place);
    assert!(!log.contains(&site.admin_key()), "{log}");
}

#[test]
fn a_log_in_text_is_for_people() {
    for lines in ["format = 'text'\n", ""] {
        let log = log_with(lines);
        let line = log.lines().find(|line| line.contains(STOPPING));
        let line = line.unwrap_or_else(|| panic!("not logged: {log}"));
        assert!(line.contains(" INFO "), "{line}");
        assert!(!line.starts_with('{'), "{line}");
    }
}

#[test]
fn the_level_says_how_much_is_logged_in_all_and_of_a_part() {
    for (level, is_logged) in [
        ("info", true),
        ("warn", false),
        ("off", false),
        ("warn,ropeline::serve=info", true),
        ("info,ropeline::serve=warn", false),
    ] {
        let log = log_with(&format!("level = '{level}'\n"));
        assert_eq!(log.contains(STOPPING), is_logged, "{level}: {log}");
    }
}
