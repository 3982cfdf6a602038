//! A start on a Redis that is not as it should be.

use std::{
    fs::{self, File},
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

use ropeline_testing::{
    Persistence, TestCertificates, TestRedis, free_port,
    http::{Ask, Client},
};

use crate::{
    process::{Leashed, Site},
    visitor::{leave, token_of, verify},
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

/// The rights that docs/REDIS.md gives to a user of its own, as `ACL SETUSER` takes them.
fn documented_rights() -> Vec<String> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/REDIS.md");
    let page = fs::read_to_string(page).expect("a page of the documentation");
    let line = page.lines().find_map(|line| line.strip_prefix("user "));
    let line = line.expect("a user is shown there");
    line.split(' ').map(str::to_owned).collect()
}

#[test]
fn over_tls_and_with_the_rights_of_the_documentation_a_line_forms_and_moves() {
    let (certificates, port) = (TestCertificates::make(), free_port());
    let options = certificates.redis_options(port);
    let options: Vec<_> = options.iter().map(String::as_str).collect();
    let redis = TestRedis::with(Persistence::Always, &options);
    let rights = documented_rights();
    let rights = ["ACL", "SETUSER"]
        .into_iter()
        .chain(rights.iter().map(String::as_str));
    assert_eq!(redis.cli(&rights.collect::<Vec<_>>()), "OK");
    let store = format!("rediss://ropeline:PASSWORD@localhost:{port}");
    let site = Site::new(&format!(
        "store = '{store}'\n[rooms.main]\nactive_max = 1\n"
    ));
    let mut serve = site.command("serve");
    serve.env("SSL_CERT_FILE", certificates.authority());
    serve.stdin(Stdio::null()).stdout(Stdio::null());
    let _server = Leashed(serve.spawn().expect("the binary that cargo has just built"));
    let mut client = until(PATIENCE, "it is ready", || {
        let mut client = Client::connect(site.address()).ok()?;
        let ready = client.try_send(&Ask::get("/readyz")).ok()?;
        (ready.status == 200).then_some(client)
    });
    let [first, second] = ["ann", "bob"].map(|user| token_of(&mut client, user));
    assert_eq!(client.send(&verify(&first)).status, 204);
    assert_eq!(client.send(&verify(&second)).status, 403);
    assert_eq!(client.send(&leave(&first)).status, 204);
    assert_eq!(client.send(&verify(&second)).status, 204);
    assert_eq!(client.send(&verify(&first)).status, 401);
    let clients = redis.cli(&["CLIENT", "LIST"]);
    let ours = clients
        .lines()
        .filter(|line| line.contains("user=ropeline"));
    assert!(ours.count() > 0, "{clients}");
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

#[test]
fn a_hangup_while_the_store_is_awaited_ends_nothing() {
    let mut redis = TestRedis::start();
    redis.kill();
    let site = Site::new(&format!(
        "store = '{}'\n[rooms.main]\nbatch = 7\n",
        redis.url()
    ));
    let server = site.launch("serve");
    until(PATIENCE, "it waits", || {
        server
            .stderr()
            .contains("waiting for the store")
            .then_some(())
    });
    server.hang_up();
    redis.start_again();
    until(PATIENCE, "it is ready and has reloaded", || {
        (server.is_ready() && server.stderr().contains("the settings were reloaded")).then_some(())
    });
    assert_eq!(server.room(&site.admin_key())["policy"]["batch"], 7);
}
