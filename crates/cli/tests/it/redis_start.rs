//! A start on a Redis that is not as it should be.

use std::{
    fs::{self, File},
    process::{Command, Stdio},
    time::Duration,
};

use ropeline_testing::{Persistence, TestRedis, free_port};

use crate::{
    process::{Leashed, Site},
    wait::until,
};

/// Within this a server says that it waits, and ends when it is told to.
const PATIENCE: Duration = Duration::from_secs(5);

#[test]
fn a_redis_that_refuses_us_ends_the_start_at_once() {
    let redis = TestRedis::with(Persistence::None, &["--requirepass", "right"]);
    let address = format!("127.0.0.1:{}", redis.port());
    for (store, told) in [
        (format!("redis://{address}"), "it wants a password"),
        (
            format!("redis://:hunter2@{address}"),
            "it does not take this user and password",
        ),
        (
            format!("redis://:right@{address}/99"),
            "DB index is out of range",
        ),
    ] {
        let site = Site::new(&format!("store = '{store}'\n"));
        let complaint = site.ropeline("serve").complaint(1);
        assert!(complaint.contains(told), "{complaint}");
        assert!(complaint.contains(&address), "{complaint}");
        let shown = complaint.contains("hunter2") || complaint.contains(":right");
        assert!(!shown, "{complaint}");
    }
}

#[test]
fn a_redis_that_is_away_is_waited_for_until_the_wait_is_ended() {
    let port = free_port();
    let site = Site::new(&format!("store = 'redis://:hunter2@127.0.0.1:{port}'\n"));
    let log = site.with_file("log", b"");
    let mut serve = site.command("serve");
    serve.stdin(Stdio::null()).stdout(Stdio::null());
    serve.stderr(File::create(&log).expect("a file of the test's own"));
    let mut server = Leashed(serve.spawn().expect("the binary that cargo has just built"));
    let said = until(PATIENCE, "it says what it waits for", || {
        let said = fs::read_to_string(&log).expect("a file of the test's own");
        said.contains("nothing listens there").then_some(said)
    });
    let waiting = format!("waiting for the store redis://:…@127.0.0.1:{port}");
    assert!(said.contains(&waiting), "{said}");
    let pid = server.0.id().to_string();
    let kill = Command::new("kill").arg(pid).status();
    assert!(kill.expect("the program `kill`").success());
    let ended = until(PATIENCE, "the wait ends", || {
        server.0.try_wait().expect("a child of this process")
    });
    assert_eq!(ended.code(), Some(0));
}

#[test]
fn an_open_gate_is_warned_of_at_the_start() {
    let site = Site::new("on_store_error = 'open'\n");
    let server = site.start();
    let warned = server.stderr().contains("EVERYBODY is let through");
    assert!(warned, "{}", server.stderr());
    drop(server);
    site.configure("on_store_error = 'lease'\n");
    assert!(!site.start().stderr().contains("EVERYBODY"));
}
